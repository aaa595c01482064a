#!/bin/sh
# Starts Ashlar. A system without the libraries of the window, such as a server, gets the
# program without one, which needs no library.
for library in @LIBRARIES@; do
	[ -e "@FOLDER@/$library" ] || ASHLAR_INSTALL="@INSTALL@" exec /usr/bin/ashlar-cli "$@"
done
exec /usr/lib/ashlar/ashlar "$@"
