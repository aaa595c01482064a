//go:build unix

package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ashlar/app/command"
)

// TestWhatIsNoRecording checks that tools and pictures open only regular files, and that
// errors do not quote files that are not recordings.
func TestWhatIsNoRecording(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "passwords")
	if err := os.WriteFile(secret, []byte("root:hunter2:0:0:root:/root:/bin/bash\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer web.Close()
	c := connect(t)
	for _, file := range []string{secret, fifo, link, dir, "/proc/self/environ", "/proc/self/mem", "/dev/zero", "-"} {
		for _, tool := range []string{"open", "overview", "top", "check", "compare"} {
			args := map[string]any{"file": file}
			if tool == "compare" {
				args = map[string]any{"a": file, "b": file}
			}
			res, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
			if err != nil {
				t.Errorf("%s of %s: %v", tool, file, err)
				continue
			}
			said := fmt.Sprint(res.StructuredContent)
			for _, x := range res.Content {
				said += x.(*sdk.TextContent).Text
			}
			if strings.Contains(said, "hunter2") || strings.Contains(said, "root:") || !res.IsError && tool != "check" {
				t.Errorf("%s of %s says %s", tool, file, said)
			}
		}
	}
	for _, file := range []string{secret, fifo, link, dir, "/proc/self/environ", web.URL, "ssh:localhost:/x.pftrace"} {
		_, err := c.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "ashlar:1?file=" + file})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "root:") {
			t.Errorf("a picture of %s: %v", file, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("pictures asked a server %d times", n)
	}
}

// TestEndsWithItsClient checks that the session ends when the client goes away, even while it
// waits for a web server that never answers.
func TestEndsWithItsClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outW.Close()
	ended := make(chan int, 1)
	go func() { ended <- command.Main([]string{"mcp"}, inR, outW, io.Discard, program) }()
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if _, err := bufio.NewReader(outR).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open","arguments":{"file":"http://%s/"}}}`+"\n", l.Addr())
	asks, err := l.Accept() // the request is never answered
	if err != nil {
		t.Fatal(err)
	}
	defer asks.Close()
	inW.Close()
	outR.Close()
	<-ended // the test hangs if the session does not end
}
