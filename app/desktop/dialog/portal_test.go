//go:build linux

package dialog

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// bus starts a message bus for this test and makes it the session bus.
func bus(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the message bus does not start: %v (make test installs it)", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	return address
}

// portal is a fake file chooser portal.
type portal struct {
	conn      *dbus.Conn
	asked     chan asked
	closed    chan bool
	code      uint32
	uris      []string
	elsewhere bool // like an old portal, choose the request's path itself
	early     bool // answer before OpenFile returns
	silent    bool // never answer
}

type asked struct {
	parent, title string
	options       map[string]dbus.Variant
}

func (p *portal) OpenFile(sender dbus.Sender, parent, title string, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	token := options["handle_token"].Value().(string)
	if p.elsewhere {
		token = "t1"
	}
	name := strings.ReplaceAll(strings.TrimPrefix(string(sender), ":"), ".", "_")
	path := dbus.ObjectPath("/org/freedesktop/portal/desktop/request/" + name + "/" + token)
	p.conn.Export(p, path, "org.freedesktop.portal.Request")
	p.asked <- asked{parent, title, options}
	answer := func() {
		results := map[string]dbus.Variant{"uris": dbus.MakeVariant(p.uris)}
		p.conn.Emit(path, "org.freedesktop.portal.Request.Response", p.code, results)
	}
	switch {
	case p.silent:
	case p.early:
		answer()
	default:
		time.AfterFunc(200*time.Millisecond, answer)
	}
	return path, nil
}

// Close is called to close the dialog of a cancelled request.
func (p *portal) Close() *dbus.Error {
	p.closed <- true
	return nil
}

func (p *portal) serve(t *testing.T, address string) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p.conn, p.asked, p.closed = conn, make(chan asked, 1), make(chan bool, 1)
	if err := conn.Export(p, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.FileChooser"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.portal.Desktop", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
}

func TestPortal(t *testing.T) {
	strange := []string{"file:///runs/a%20b%2Bc+d%0A%25.spaa", "file:///runs/%E6%97%A5.spall"}
	for name, c := range map[string]struct {
		portal portal
		want   []string
		fails  string
	}{
		"names":     {portal: portal{uris: strange}, want: []string{"/runs/a b+c+d\n%.spaa", "/runs/日.spall"}},
		"at once":   {portal: portal{uris: strange[1:], early: true}, want: []string{"/runs/日.spall"}},
		"old":       {portal: portal{uris: strange[1:], elsewhere: true}, want: []string{"/runs/日.spall"}},
		"none":      {portal: portal{code: 1}},
		"broken":    {portal: portal{code: 2}, fails: "ended without an answer"},
		"not files": {portal: portal{uris: []string{"sftp://host/x"}}, fails: "sftp://host/x is not on this machine. Copy it here first"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &c.portal
			p.serve(t, bus(t))
			got, err := Open(context.Background(), Request{Title: "Open recording", Folder: "/runs/x y", Multiple: true, Parent: "x11:abc"})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			a := <-p.asked
			if a.parent != "x11:abc" || a.title != "Open recording" || string(a.options["current_folder"].Value().([]byte)) != "/runs/x y\x00" || a.options["multiple"].Value() != true {
				t.Errorf("asked with %q %q %v", a.parent, a.title, a.options)
			}
		})
	}
}

// TestPortalCancel checks that cancelling closes the dialog.
func TestPortalCancel(t *testing.T) {
	p := &portal{silent: true}
	p.serve(t, bus(t))
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-p.asked; cancel() }()
	if _, err := Open(ctx, Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	select {
	case <-p.closed:
	case <-time.After(20 * time.Second):
		t.Error("the dialog was left open")
	}
}

func TestNoPortal(t *testing.T) {
	address := bus(t) // a bus without a portal
	if _, err := Open(context.Background(), Request{}); !errors.Is(err, ErrNone) {
		t.Errorf("without a portal: %v", err)
	}
	for _, a := range []string{"", "unix:path=/nowhere", address + "x"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", a)
		t.Setenv("XDG_RUNTIME_DIR", os.DevNull)
		if _, err := Open(context.Background(), Request{}); !errors.Is(err, ErrNone) {
			t.Errorf("bus %q: %v", a, err)
		}
	}
}
