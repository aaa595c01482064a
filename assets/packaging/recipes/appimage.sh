#!/bin/sh
# Makes an AppImage of the release's tar.gz, which is in this folder or is downloaded:
#
#   ./build.sh
#
# It needs appimagetool on the PATH, or its path in $APPIMAGETOOL.
set -eu
name=ashlar-@VERSION@
archive=$name-linux-@GOARCH@.tar.gz
tool=${APPIMAGETOOL:-appimagetool}
[ -e "$archive" ] || curl -fLO '@URL:ashlar-@VERSION@-linux-@GOARCH@.tar.gz@'
echo '@SUM:ashlar-@VERSION@-linux-@GOARCH@.tar.gz@' "$archive" | sha256sum -c -
rm -rf "$name" Ashlar.AppDir
tar xf "$archive"
"$name/ashlar" install --prefix /usr --destdir "$PWD/Ashlar.AppDir"
cd Ashlar.AppDir
install -Dm644 -t usr/share/licenses/ashlar "../$name/LICENSE" "../$name/NOTICES"
ln -s usr/bin/ashlar AppRun
ln -s usr/share/applications/dev.ashlar.Ashlar.desktop .
ln -s usr/share/icons/hicolor/256x256/apps/dev.ashlar.Ashlar.png .
ln -s dev.ashlar.Ashlar.png .DirIcon
cd ..
ARCH=@ARCH@ VERSION=@VERSION@ "$tool" Ashlar.AppDir "@NAME@-@VERSION@-@ARCH@.AppImage"
