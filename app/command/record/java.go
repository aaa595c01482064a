package record

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/input/safetext"
)

// runJava records a Java program with the flight recorder of its virtual machine.
func runJava(_ context.Context, j *job) (outcome, error) {
	dir, err := j.folder()
	if err != nil {
		return outcome{}, err
	}
	file := filepath.Join(dir, "recording.jfr")
	flags := []string{"-XX:StartFlightRecording=dumponexit=true,settings=profile,filename=" + file}
	if !java8(j.path) {
		flags = append(flags, "-Xlog:jfr+startup=off") // prints to standard output
	}
	c, err := j.start(j.command(j.path, slices.Concat(flags, j.args[1:])...))
	if err != nil {
		return outcome{}, err
	}
	defer c.stop()
	out := c.wait()
	if _, err := os.Stat(file); err != nil {
		j.note("java wrote no recording: it was killed, or has no flight recorder (JDK 11 and later have it)")
		return out, nil
	}
	return out, j.keep(file, j.file)
}

// java8 reports whether a java is of version 8 or before, by the file that comes with it.
func java8(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	home := filepath.Dir(filepath.Dir(path))
	for _, dir := range []string{home, filepath.Dir(home)} { // jre/bin/java in version 8
		if b, err := os.ReadFile(filepath.Join(dir, "release")); err == nil {
			return strings.Contains(string(b), `JAVA_VERSION="1.`)
		}
	}
	return false
}

// attachJava records a running virtual machine.
func attachJava(_ context.Context, j *job) error {
	dir, err := j.folder()
	if err != nil {
		return err
	}
	jcmd := filepath.Join(filepath.Dir(j.path), "jcmd")
	if _, err := exec.LookPath(jcmd); err != nil {
		if jcmd, err = exec.LookPath("jcmd"); err != nil {
			return fmt.Errorf("jcmd, part of the JDK, is not in PATH")
		}
	}
	ask := func(words ...string) error {
		out, err := exec.Command(jcmd, append([]string{strconv.Itoa(j.pid)}, words...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("jcmd cannot record process %d: %s", j.pid, safetext.Short(strings.TrimSpace(string(out))))
		}
		return nil
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, passed...)
	defer signal.Stop(stop)
	if err := ask("JFR.start", "name=ashlar", "settings=profile"); err != nil {
		return err
	}
	select {
	case <-stop:
	case <-after(j.seconds):
	}
	file := filepath.Join(dir, "recording.jfr")
	if err := ask("JFR.stop", "name=ashlar", "filename="+file); err != nil {
		return err
	}
	return j.keep(file, j.file)
}
