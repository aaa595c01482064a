#!/bin/sh
# Takes back what install.sh did, with the same arguments.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

case ${1-} in
'')
	"$here/ashlar" uninstall
	rm -f "$HOME/.local/bin/ashlar"
	;;
--prefix)
	[ $# -eq 2 ] || {
		echo "usage: $0 [--prefix DIR]" >&2
		exit 2
	}
	"$here/ashlar" uninstall --prefix "$2"
	;;
*)
	echo "usage: $0 [--prefix DIR]" >&2
	exit 2
	;;
esac
