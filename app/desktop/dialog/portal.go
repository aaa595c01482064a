//go:build !windows && !darwin

package dialog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// The file chooser portal, see
// https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html.
// OpenFile returns the path of a request at once; the request emits the signal Response
// when the user has chosen.
const (
	portalName    = "org.freedesktop.portal.Desktop"
	portalPath    = "/org/freedesktop/portal/desktop"
	openFile      = "org.freedesktop.portal.FileChooser.OpenFile"
	requestFace   = "org.freedesktop.portal.Request"
	answered      = 0 // the codes of Response
	cancelled     = 1
	portalStarts  = 3 * time.Second // how long the desktop may take to start the portal
	requestPrefix = portalPath + "/request/"
)

// Open asks the user for files to open and waits for the answer. The dialog closes when
// ctx ends. Open returns no paths and no error if the user chose none.
func Open(ctx context.Context, r Request) ([]string, error) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return nil, ErrNone
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, ErrNone
	}
	defer conn.Close()
	// The answer may come before OpenFile returns, so subscribe first, to the request
	// path that the token determines.
	token := newToken()
	sender := strings.ReplaceAll(strings.TrimPrefix(conn.Names()[0], ":"), ".", "_")
	path := dbus.ObjectPath(requestPrefix + sender + "/" + token)
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	listen := func(path dbus.ObjectPath) error {
		return conn.AddMatchSignal(dbus.WithMatchObjectPath(path), dbus.WithMatchInterface(requestFace), dbus.WithMatchMember("Response"))
	}
	if err := listen(path); err != nil {
		return nil, ErrNone
	}
	options := map[string]dbus.Variant{
		"handle_token": dbus.MakeVariant(token),
		"multiple":     dbus.MakeVariant(r.Multiple),
		"modal":        dbus.MakeVariant(r.Parent != ""),
	}
	if r.Folder != "" {
		options["current_folder"] = dbus.MakeVariant(append([]byte(r.Folder), 0))
	}
	starting, stop := context.WithTimeout(ctx, portalStarts)
	defer stop()
	var handle dbus.ObjectPath
	err = conn.Object(portalName, portalPath).CallWithContext(starting, openFile, 0, r.Parent, r.Title, options).Store(&handle)
	if err != nil {
		if ctx.Err() != nil {
			takeAway(conn, path)
			return nil, ctx.Err()
		}
		return nil, ErrNone
	}
	if handle != path { // portals before 0.9 choose the path themselves
		if err := listen(handle); err != nil {
			return nil, err
		}
	}
	for {
		select {
		case <-ctx.Done():
			takeAway(conn, handle)
			return nil, ctx.Err()
		case s, open := <-signals:
			if !open {
				return nil, fmt.Errorf("the file dialog closed without an answer")
			}
			if s.Path == handle && s.Name == requestFace+".Response" {
				return chosen(s.Body)
			}
		}
	}
}

// takeAway closes the dialog of a request.
func takeAway(conn *dbus.Conn, request dbus.ObjectPath) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	conn.Object(portalName, request).CallWithContext(ctx, requestFace+".Close", 0)
}

// chosen reads the body of a Response: a code and results, which include the URIs of the
// files.
func chosen(body []any) ([]string, error) {
	var code uint32
	var results map[string]dbus.Variant
	if err := dbus.Store(body, &code, &results); err != nil {
		return nil, fmt.Errorf("the file dialog gave an invalid answer (%w)", err)
	}
	switch code {
	case answered:
	case cancelled:
		return nil, nil
	default:
		return nil, fmt.Errorf("the file dialog ended without an answer")
	}
	uris, _ := results["uris"].Value().([]string)
	var paths []string
	for _, uri := range uris {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "file" || u.Path == "" {
			return nil, fmt.Errorf("%s is not on this machine. Copy it here first", uri)
		}
		paths = append(paths, u.Path)
	}
	return paths, nil
}

func newToken() string {
	var b [8]byte
	rand.Read(b[:])
	return "ashlar" + hex.EncodeToString(b[:])
}
