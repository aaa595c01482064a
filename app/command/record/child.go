package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// child is the recorded command while it runs.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	// interrupted receives a value when the user presses Ctrl-C.
	interrupted chan os.Signal
	got         chan os.Signal
}

// outcome is how a command ended: with an exit code, or by a signal.
type outcome struct {
	code   int
	signal os.Signal
}

// command returns the command with its own input and output.
func (j *job) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.p.Stdin, j.p.Output, j.p.Stderr
	return cmd
}

// start starts a command and passes signals on to it.
func (j *job) start(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, done: make(chan struct{}), interrupted: make(chan os.Signal, 1), got: make(chan os.Signal, 8)}
	signal.Notify(c.got, passed...)
	if err := cmd.Start(); err != nil {
		c.stop()
		return nil, fmt.Errorf("%s cannot be started (%w)", cmd.Path, cause(err))
	}
	j.child = c
	go func() {
		for {
			select {
			case <-c.done:
				return
			case s := <-c.got:
				if !terminalSent(s) {
					_ = cmd.Process.Signal(s)
				}
				c.interrupt(s)
			}
		}
	}()
	return c, nil
}

func (c *child) interrupt(s os.Signal) {
	select {
	case c.interrupted <- s:
	default:
	}
}

// wait waits for the end of the command. Further signals have no effect until stop, so that
// the recording can be finished.
func (c *child) wait() outcome {
	_ = c.cmd.Wait() // the state below tells how it ended
	close(c.done)
	select {
	case s := <-c.got: // the signal came as the command ended
		c.interrupt(s)
	default:
	}
	return ended(c.cmd.ProcessState)
}

// stop gives signals their usual effect again.
func (c *child) stop() { signal.Stop(c.got) }

// cause returns the reason for a failed start without the path.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// within reports whether done is closed before a time has passed.
func within(d time.Duration, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}
