//go:build !windows

package record

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// passed are the signals passed on to the command.
var passed = []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2}

// terminalSent reports whether the terminal has sent a signal to the command too: it sends
// Ctrl-C to all processes of the foreground group. Tests replace it.
var terminalSent = func(s os.Signal) bool {
	if s != unix.SIGINT && s != unix.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// ended returns how a process ended.
func ended(st *os.ProcessState) outcome {
	if st == nil {
		return outcome{code: 1}
	}
	if w, ok := st.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return outcome{code: 128 + int(w.Signal()), signal: w.Signal()}
	}
	return outcome{code: st.ExitCode()}
}

// endBy ends this process by the signal that ended the command, because a shell ends its
// script after Ctrl-C only if the signal ended the program. It returns for signals that
// would also write a core file. Tests replace it.
var endBy = func(s os.Signal) {
	switch s {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGKILL:
		signal.Reset(s)
		_ = unix.Kill(os.Getpid(), s.(syscall.Signal))
		time.Sleep(time.Second)
	}
}

// apart returns attributes for a process that Ctrl-C and closing the terminal do not end.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// alive reports whether a process exists.
func alive(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }

// display reports whether windows can open.
func display() bool {
	if runtime.GOOS == "darwin" {
		return os.Getenv("SSH_CONNECTION") == ""
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
