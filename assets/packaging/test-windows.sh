#!/bin/sh
# Runs the programs for Windows under Wine, in a bare Debian 13 with nothing else:
#
#   test-windows.sh [FLAGS OF GO TEST]
#
# It needs mmdebstrap, root (or sudo without a password) and the network's package mirror,
# and says loudly that nothing was tested if it lacks them. The root, of 2 GB with Wine's
# files, is kept in the user's cache.
#
#   test-windows.sh enter PROGRAM [ARGUMENTS]
#
# runs a program for Windows in the root $ASHLAR_WINE_ROOT, in the folder $FOLDER of the
# repository; the test does so.
set -eu
cd "$(dirname "$0")/../.."
go=${GO:-go}
root=${ASHLAR_WINE_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/ashlar/wine-13.1}
export TMPDIR=/tmp
as_root=
[ "$(id -u)" -eq 0 ] || as_root='sudo -n'

# inside runs a command in the root. It shares /tmp, where the display's socket and the
# test's files are, and has this folder as /src.
inside() {
	# shellcheck disable=SC2016
	$as_root unshare --mount sh -eu -c '
		root=$1 display=$2 folder=$3
		shift 3
		for shared in /proc /dev /tmp; do mount --rbind "$shared" "$root$shared"; done
		mount --bind . "$root/src"
		exec chroot "$root" env -i -C "/src/$folder" PATH=/usr/lib/wine:/usr/bin LC_ALL=C.UTF-8 HOME=/home WINEPREFIX=/home/wine \
			DISPLAY="$display" LIBGL_ALWAYS_SOFTWARE=1 LP_NUM_THREADS=0 WINEDEBUG=-all \
			WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe=" "$@"
	' sh "$root" "${DISPLAY-}" "${FOLDER-}" "$@"
}

if [ "${1-}" = enter ]; then
	shift
	inside wine64 "$@"
	exit
fi

not_tested() {
	echo '******************************************************************' >&2
	echo "THE PROGRAMS FOR WINDOWS WERE NOT TESTED: $1" >&2
	echo '******************************************************************' >&2
	exit 0
}

# make_root extracts the packages without running their scripts, which takes half a minute
# instead of two. What the scripts would have done for Wine is done here.
make_root() {
	command -v mmdebstrap >/dev/null || not_tested 'mmdebstrap is missing'
	$as_root rm -rf "$root" "$root.new"
	mkdir -p "$(dirname "$root")"
	$as_root mmdebstrap --quiet --mode=root --variant=extract --format=directory \
		--include=base-files,libc-bin,dash,coreutils,wine64,libgl1,libglx-mesa0,libgl1-mesa-dri,libxcursor1,libxi6,libxrandr2,libxinerama1,libxcomposite1,fonts-dejavu-core \
		trixie "$root.new" || not_tested 'its Debian could not be made'
	$as_root sh -eu -c '
		cd "$1"
		for d in bin sbin lib lib64; do [ -e "$d" ] || ln -s "usr/$d" "$d"; done
		mkdir -p proc dev tmp home/wine src
		rm -rf usr/share/doc usr/share/locale
		# Wine loads only libraries that are marked as its own.
		zlib=usr/x86_64-w64-mingw32/lib/zlib1.dll
		{ head -c 64 "$zlib" && printf "Wine builtin DLL" && head -c 16 /dev/zero && tail -c +97 "$zlib"; } \
			>usr/lib/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll
	' sh "$root.new"
	$as_root mv "$root.new" "$root"
}
[ -z "$as_root" ] || $as_root true 2>/dev/null || not_tested 'that needs root, or sudo without a password'
$as_root test -d "$root" || make_root

work=$(mktemp -d)
trap 'inside wineserver -k || true; rm -rf "$work"' EXIT

# Wine 10 has no EnableMouseInPointer, without which Gio opens no window (see
# gio-wine.md). In a copy of Gio the failure is ignored.
cp go.mod go.sum "$work"
"$go" mod download gioui.org # the folder is unknown before
cp -r "$("$go" list -m -f '{{.Dir}}' gioui.org)" "$work/gio"
chmod -R u+w "$work/gio"
sed -i '/EnableMouseInPointer(1); err != nil/,/}/s/return err/_ = err/' "$work/gio/app/os_windows.go"
"$go" mod edit -replace "gioui.org=$work/gio" "$work/go.mod"

# -l: without inlining, the compiler takes a third less time.
build() {
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 "$go" $1 -modfile="$work/go.mod" -gcflags='all=-dwarf=false -l' -ldflags="-w -s $2" -o "$work/$3" "$4"
}
build build '-H windowsgui' ashlar.exe ./app/ashlar
build build '' ashlar-cli.exe ./app/ashlar-cli
for p in app/core/cache app/core/settings app/desktop/install app/desktop/instance app/desktop/outfile ingest/input/source ingest/format/store; do
	build 'test -vet=off -c' '' "$(echo "$p" | tr / .).test.exe" "./$p"
done

inside wineserver -p
inside wine64 wineboot --init 2>/dev/null
$as_root rm -rf "$root/home/wine/drive_c/users/"*/AppData/*/[Aa]shlar
# The server "server" shares this folder.
$as_root mkdir -p "$root/home/wine/dosdevices/unc/server"
$as_root ln -sfn /tmp "$root/home/wine/dosdevices/unc/server/share"
ASHLAR_WINDOWS=$work ASHLAR_WINE_ROOT=$root ASHLAR_WINE=$PWD/assets/packaging/test-windows.sh \
	"$go" test -vet=off -count=1 -tags=novulkan,nethttpomithttp2,desktop -timeout 5m "$@" -run '^TestWindows' ./app/ashlar
