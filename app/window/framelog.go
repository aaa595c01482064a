package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"sync"
	"time"

	"ashlar/app/core/session"
	"ashlar/app/desktop/outfile"
	"ashlar/app/window/shell"
)

// frameLog writes one JSON line per frame.
type frameLog struct {
	f         *os.File
	start     time.Time
	began     time.Time
	cpu       time.Duration
	layout    time.Duration
	layoutCPU time.Duration
	work      session.Work // at the start of the frame

	mu     sync.Mutex // guards the fields below
	enc    *json.Encoder
	frames int // number of frames begun
}

// frameLine is one line of the log; times are in milliseconds.
type frameLine struct {
	// At is the time since the program's start.
	At float64 `json:"at_ms"`
	// Layout is the time to lay out the frame and draw its pictures; LayoutCPU is its
	// thread's CPU time. Frame is the whole time, including the GPU's part.
	Layout    float64 `json:"layout_ms"`
	LayoutCPU float64 `json:"layout_cpu_ms"`
	Frame     float64 `json:"frame_ms"`
	Bars      int     `json:"bars"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Theme     string  `json:"theme"`
	// Rest is set if the picture stays as it is until the user acts or a file changes: it
	// includes all answers, nothing moves, and history is up to date.
	Rest bool `json:"rest"`
	shell.State
}

// started is when the program began.
var started = time.Now()

func newFrameLog(path string, read []string) (*frameLog, error) {
	if path == "" {
		return &frameLog{}, nil
	}
	if err := outfile.Apart(path, read); err != nil {
		return nil, err
	}
	o := outfile.Options{Replace: true, Only: func(head []byte) error {
		if !bytes.HasPrefix(head, []byte(`{"at_ms":`)) {
			return errors.New("exists and is not a frame log")
		}
		return nil
	}}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if err := outfile.Unused(path, o); err != nil {
			return nil, err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the frame log cannot be written: %w", err)
	}
	return &frameLog{f: f, enc: json.NewEncoder(f), start: started}, nil
}

func (l *frameLog) begin() {
	if l.f != nil {
		l.mu.Lock()
		l.frames++
		l.mu.Unlock()
		l.began, l.cpu, l.work = time.Now(), threadTime(), session.Working()
	}
}

func (l *frameLog) laidOut() {
	if l.f != nil {
		l.layout, l.layoutCPU = time.Since(l.began), threadTime()-l.cpu
	}
}

// end writes the line of a frame; due reports whether another frame has been requested.
func (l *frameLog) end(s *shell.Shell, size image.Point, due func() bool) {
	if l.f == nil {
		return
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	line := frameLine{
		At: ms(time.Since(l.start)), Layout: ms(l.layout), LayoutCPU: ms(l.layoutCPU), Frame: ms(time.Since(l.began)),
		Bars: s.Bars, Width: size.X, Height: size.Y,
		Theme: s.Theme.Name, State: s.State(),
	}
	still := s.AtRest() && !due()
	line.Rest = still && l.work.Now == 0 && session.Working() == l.work
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enc.Encode(line)
	if still && !line.Rest {
		line.Rest = true
		if text, err := json.Marshal(line); err == nil { // encode it now: its buffers may be reused soon
			go l.await(append(text, '\n'), l.frames, due)
		}
	}
}

// await writes the newest frame's line again, as a frame at rest, if the work in progress
// ends without anything new to show: no further frame comes then.
func (l *frameLog) await(line []byte, frame int, due func() bool) {
	for ended := false; !ended; {
		time.Sleep(2 * time.Millisecond)
		ended = l.ended(line, frame, due)
	}
}

func (l *frameLog) ended(line []byte, frame int, due func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil || l.frames != frame {
		return true
	}
	if session.Working().Now > 0 {
		return false
	}
	if !due() { // work requests its frame before it ends
		l.f.Write(line)
	}
	return true
}

func (l *frameLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}
