package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// parts are the loads of the recordings that a Load joins.
type parts struct {
	mu    sync.Mutex
	loads []*Load // nil for those that were not opened yet
	sizes []int64 // of their files, -1 if unknown
}

// partsAtOnce is the number of parts that are read at the same time. Each is decoded on all
// cores; a second one keeps them busy while the first ends.
const partsAtOnce = 2

// openJoined starts to load the parts of a joined recording.
func openJoined(ctx context.Context, path string, opts Options, quiet bool) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := newLoad(ctx, path, opts, cancel)
	l.quiet, l.parts = quiet, &parts{}
	go l.run(ctx, l.join)
	return l
}

// join reads all parts and joins them. A part that cannot be read is left out, with a
// warning.
func (l *Load) join(ctx context.Context) (rec *recording.Recording, err error) {
	if err := Allowed(ctx, l.path); err != nil {
		return nil, err
	}
	files, err := join.Files(l.path)
	if err != nil {
		return nil, err
	}
	l.parts.open(files)
	errs := l.readParts(ctx, files)
	l.stop(nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var read []join.Part
	var lost []error
	for i, name := range join.Names(files) {
		if errs[i] != nil {
			lost = append(lost, errs[i])
			continue
		}
		p := l.parts.loads[i]
		l.full = l.full || p.Stats().Full
		read = append(read, join.Part{Name: name, Rec: p.Snapshot()})
		p.snap.Store(emptyRecording(p.path))
	}
	if len(read) == 0 {
		return nil, lost[0]
	}
	finishing, unwatch := memory.Watch(l.finishing, "joining recordings", nil)
	defer unwatch()
	err = source.Protect(l.path, func() error {
		rec, err = join.Recordings(finishing, read, l.opts.Part.Range)
		return err
	})
	if err != nil {
		return nil, err
	}
	rec.Source.Path, rec.Source.Name = l.path, join.Title(l.path)
	rec.Part = l.opts.Part
	if len(lost) > 0 {
		rec.Warnings = append([]recording.Warning{{
			Code: "failed", Count: int64(len(lost)), Error: true,
			Text: fmt.Sprintf("%v; %d of %s shown", lost[0], len(read), safetext.Plural(len(files), "recording")),
		}}, rec.Warnings...)
	}
	return rec, nil
}

// readParts reads the parts, a few at a time. It returns their errors.
func (l *Load) readParts(ctx context.Context, files []string) []error {
	errs := make([]error, len(files))
	opts := l.opts
	opts.Part.Range = recording.Range{} // of the joined recording
	opts.Notify = l.notify
	if opts.MemoryLimit > 0 {
		opts.MemoryLimit = max(1, opts.MemoryLimit/int64(len(files)))
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(partsAtOnce, len(files)) {
		wg.Go(func() {
			for i := range next {
				p := open(ctx, files[i], opts, true)
				l.parts.set(i, p)
				unstop := context.AfterFunc(l.reading, p.Stop)
				errs[i] = p.Wait()
				unstop()
				if in := p.in.Load(); in != nil && in.Mapped() == nil {
					go func() { // as in ReadAll
						<-p.kept
						p.Close()
					}()
				}
			}
		})
	}
	for i := range files {
		if l.reading.Err() != nil {
			errs[i] = &source.Error{Path: files[i], What: "was not read", Err: context.Cause(l.reading)}
			continue
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}

// open makes room for the parts.
func (p *parts) open(files []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loads, p.sizes = make([]*Load, len(files)), make([]int64, len(files))
	for i, f := range files {
		p.sizes[i] = -1
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			p.sizes[i] = info.Size()
		}
	}
}

func (p *parts) set(i int, l *Load) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loads[i] = l
}

// progress adds up the bytes and records of the parts. total is -1 if unknown.
func (p *parts) progress() (bytes, total, records int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.loads {
		size := p.sizes[i]
		if l != nil {
			of := l.Progress()
			if size < 0 {
				size = of.Total
			}
			if bytes += of.Bytes; of.Done && size >= 0 {
				bytes += size - of.Bytes // cached recordings are not read
			}
			records += of.Records
		}
		if size < 0 || total < 0 {
			total = -1
		} else {
			total += size
		}
	}
	if len(p.loads) == 0 {
		total = -1
	}
	return bytes, total, records
}

// close releases the files of the parts.
func (p *parts) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.loads {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}
