package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ashlar/app/core/resident"
	"ashlar/app/core/settings"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/version"
	"ashlar/ingest"
	"ashlar/ingest/fetch/ssh"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// checking is the check command, which opens files itself instead of using loaded
// recordings. A session leaves it to the client, but the program on another machine runs
// it.
const checking = "check"

// RemoteFile returns one of the remote files that a command names, if its machine can
// answer the command: all remote files must be on the same machine. Otherwise it returns
// "".
func RemoteFile(command string, files []string) (file string) {
	if !Answers(command) && command != checking {
		return ""
	}
	as := ""
	for _, f := range files {
		if !ssh.IsURL(f) {
			continue
		}
		there, _, err := ssh.Split(f)
		if err != nil || as != "" && as != there {
			return ""
		}
		as, file = there, f
	}
	return file
}

// AskHost asks the program on another machine to answer a command line that was typed
// here, as [Ask] asks a session. ok is false if that machine alone cannot answer it.
func AskHost(ctx context.Context, file string, args []string, stdout, stderr, picture io.Writer) (code int, ok bool, err error) {
	as, _, err := ssh.Split(file)
	if err != nil {
		return 0, false, err
	}
	a, err := ssh.Ask(ctx, file, ssh.Question{As: as, Args: args})
	if err != nil {
		return 0, false, err
	}
	defer a.Close()
	last, b, err := receive(bufio.NewReader(a), func() error { return nil })
	switch {
	case errors.Is(err, errElsewhere):
		return 0, false, nil
	case err != nil:
		return 0, false, &source.Error{Path: file, What: err.Error(), Err: err}
	}
	if a.Ashlar != version.String() {
		fmt.Fprintf(stderr, "ashlar: the remote ashlar is version %s, this one is %s\n", a.Ashlar, version.String())
	}
	return last.Code, true, last.write(b, stdout, stderr, picture)
}

// stdio answers a single question from a program on another machine, over standard input and
// output, which ssh forwards.
func stdio(p *subcommand.Program) error {
	ctx, cancel := context.WithCancel(p.Ctx)
	defer cancel()
	var q ssh.Question
	in := bufio.NewReader(p.Stdin)
	if err := readLine(in, &q); err != nil {
		return fmt.Errorf("--stdio is only for another ashlar over ssh: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel() // the client is gone
	}()
	hello := ssh.Greeting{Ashlar: version.String()}
	switch {
	case q.Recording != "":
		return sendRecording(ctx, p.Output, hello, &q)
	case q.Stat != "":
		hello.Refused = isFile(&hello, q.Stat)
		return writeLine(p.Output, hello)
	}
	if err := writeLine(p.Output, hello); err != nil {
		return err
	}
	return answerHere(ctx, p, &q)
}

// answerHere answers a command line about files on this machine.
func answerHere(ctx context.Context, p *subcommand.Program, q *ssh.Question) error {
	args := q.Args
	if len(args) == 0 || !Answers(args[0]) && args[0] != checking {
		return writeLine(p.Output, reply{Own: true})
	}
	if err := writeLine(p.Output, reply{Begun: true}); err != nil {
		return err
	}
	if args[0] == checking {
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.TrimPrefix(args[i], q.As)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &Server{Run: p.Run, In: func(string) subcommand.Reader { return ingest.ReadAll }, as: q.As}
	x, ok := s.run(ctx, dir, args)
	if !ok || x.out.over {
		return writeLine(p.Output, reply{Own: true})
	}
	return x.send(p.Output)
}

// sendRecording reads a recording and sends it in the stored format.
func sendRecording(ctx context.Context, w io.Writer, hello ssh.Greeting, q *ssh.Question) error {
	var rec *recording.Recording
	err := fmt.Errorf("the remote ashlar (%s) has an incompatible recording format; install the same version there, or copy the file here", hello.Ashlar)
	if q.Layout == recording.Layout() {
		rec, _, err = ingest.ReadAll(ctx, q.Recording, ingest.Options{Part: q.Part})
	}
	if err != nil {
		hello.Refused = what(err)
		return writeLine(w, hello)
	}
	if err := writeLine(w, hello); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := stored.Write(z, resident.Named(rec, q.As+q.Recording, ""), nil, false); err != nil {
		return err
	}
	return z.Close()
}

// isFile fills in the size, time and content key of a file, or returns the reason why it
// cannot be read.
func isFile(hello *ssh.Greeting, path string) (refused string) {
	info, err := os.Stat(path)
	if err != nil {
		return what(err)
	}
	c, _, err := settings.FileContent(path)
	if err != nil {
		return what(err)
	}
	hello.Bytes, hello.Changed = info.Size(), info.ModTime().UTC()
	if c.Key != "" {
		hello.Content = c.String()
	}
	return ""
}

// what returns an error's text without the file's path, which differs for the client.
func what(err error) string {
	var named *source.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &named):
		return named.What
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
