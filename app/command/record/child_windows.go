package record

import (
	"os"
	"syscall"
)

// passed are the signals to hold back: Ctrl-C also reaches the command.
var passed = []os.Signal{os.Interrupt}

var terminalSent = func(os.Signal) bool { return true }

func ended(st *os.ProcessState) outcome {
	if st == nil {
		return outcome{code: 1}
	}
	return outcome{code: st.ExitCode()}
}

var endBy = func(os.Signal) {}

// apart returns attributes for a process that Ctrl-C does not end.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}

func display() bool { return true }
