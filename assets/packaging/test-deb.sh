#!/bin/sh
# Installs a .deb in a new, bare Debian, uses it there as an ordinary user, takes
# it away again, and sees that nothing of it is left:
#
#   test-deb.sh ashlar_*.deb [RELEASE [brief]]
#
# It needs mmdebstrap and the network's package mirror. The release is this
# machine's unless one is named. brief tries only the commands, without the
# libraries of the window.
set -eu

deb=$(realpath "$1")
release=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
brief=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is done inside, where the package lies in /tmp.
cat >"$work/inside" <<'INSIDE'
set -eu
say() { echo "test-deb: $*"; }
# What packages and their triggers make anew at will is not the package's.
list() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp \
		-o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /usr/share/mime \) -prune -o -print | sort
}
export DEBIAN_FRONTEND=noninteractive
# A server has no libraries of the window. Commands need none.
list >/tmp/before
apt-get -q -y -o APT::Install-Recommends=false install /tmp/ashlar.deb >/dev/null
if ls /usr/lib/*/libX11.so.6 /usr/lib/*/libEGL.so.1 2>/dev/null; then say "libraries of the window are here"; exit 1; fi
ashlar --version
printf 'main;a 3\nmain;b 4\n' | ashlar top - --json | grep -q '"total": *7'
if ashlar --demo 2>/tmp/refusal || ! grep -q 'apt-get install .*libx11-6' /tmp/refusal; then cat /tmp/refusal; exit 1; fi
apt-get -q -y purge ashlar >/dev/null
list >/tmp/after
if ! diff /tmp/before /tmp/after; then say "the purge did not restore the system"; exit 1; fi
say "used without the libraries of the window, and purged"
[ "${1-}" != brief ] || exit 0
# What it draws with is other packages', and stays.
apt-get -q -y install --no-install-recommends shared-mime-info xdg-utils libglib2.0-bin desktop-file-utils >/dev/null
apt-get -q -y -o APT::Install-Recommends=true install /tmp/ashlar.deb >/dev/null
apt-mark manual $(dpkg-query -W -f '${Package} ' | sed 's/\bashlar\b//') >/dev/null
say "installed $(dpkg-query -W ashlar)"

useradd -m someone
cat >/tmp/use <<'USE'
set -eu
cd "$HOME"
ashlar version
printf 'main;a 3\nmain;b 4\n' | ashlar convert - run.spaa
ashlar check run.spaa
ashlar top run.spaa --json | grep -q '"total": *7'
EGL_PLATFORM=surfaceless LIBGL_ALWAYS_SOFTWARE=1 ashlar render run.spaa -o run.png
test "$(head -c 8 run.png | tail -c 3)" = PNG"$(printf '\r')" || test -s run.png
for kind in spaa spall; do
	printf '%s: ' "$kind"
	printf '{"type":"header","format":"spaa","version":"1.0"}\n' >"x.$kind"
	mime=$(gio info -a standard::content-type "x.$kind" | sed -n 's/.*content-type: //p')
	printf '%s ' "$mime"
	program=$(gio mime "$mime" | sed -n 's/^Default application for .*: //p')
	echo "$program"
	case $program in *shlar*) ;; *) exit 1 ;; esac
done
desktop-file-validate "/usr/share/applications/$program"
man -w ashlar >/dev/null 2>&1 || test -e /usr/share/man/man1/ashlar.1.gz
USE
su someone -c 'sh /tmp/use'
say "used by somebody"

userdel -r someone 2>/dev/null
list >/tmp/with
apt-get -q -y purge ashlar >/dev/null
list >/tmp/without
if dpkg-query -W ashlar 2>/dev/null; then say "it is still known after the purge"; exit 1; fi
left=$(grep -i ashlar /tmp/without || true)
if [ -n "$left" ]; then say "left behind: $left"; exit 1; fi
# Folders that it was alone in go with it.
gone=$(comm -23 /tmp/with /tmp/without | grep -vi ashlar | while read -r f; do grep -q "^$f/.*[aA]shlar" /tmp/with || echo "$f"; done)
if [ -n "$gone" ]; then say "taken away with it: $gone"; exit 1; fi
say "purged: $(comm -23 /tmp/with /tmp/without | wc -l) files and folders of its own, nothing else"
INSIDE

# It lives for a minute: nothing of it needs to reach the disk.
mmdebstrap --quiet --variant=apt --format=null --dpkgopt=force-unsafe-io \
	--customize-hook="copy-in $work/inside /tmp" \
	--customize-hook="upload '$deb' /tmp/ashlar.deb" \
	--customize-hook='chroot "$1" sh /tmp/inside '"$brief" \
	"$release" "$work/null"
