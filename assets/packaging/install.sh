#!/bin/sh
# Installs Ashlar for you, in ~/.local:
#
#   ./install.sh
#
# or for everybody on this computer:
#
#   sudo ./install.sh --prefix /usr/local
#
# uninstall.sh takes it back, with the same arguments.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

case ${1-} in
'')
	bin=$HOME/.local/bin
	mkdir -p "$bin"
	# Beside and then over the old one, which may be running.
	cp "$here/ashlar" "$bin/.ashlar.new"
	chmod 755 "$bin/.ashlar.new"
	mv -f "$bin/.ashlar.new" "$bin/ashlar"
	"$bin/ashlar" install
	case :$PATH: in
	*:"$bin":*) ;;
	*) echo "To start it by typing ashlar, add $bin to your PATH." ;;
	esac
	;;
--prefix)
	[ $# -eq 2 ] || {
		echo "usage: $0 [--prefix DIR]" >&2
		exit 2
	}
	"$here/ashlar" install --prefix "$2"
	;;
*)
	echo "usage: $0 [--prefix DIR]" >&2
	exit 2
	;;
esac
