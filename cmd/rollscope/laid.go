package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/parcel"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/server"
)

// A laidRun is files on a desk, as the page has them: scanned, compared with each other, ready to be shown.
type laidRun struct {
	view.Desk
	host    *host
	workers int
	files   []server.NamedFile
	names   []string // of the files, as shown
	sizes   []int64
	inputs  []*input // of the desk's sources
	of      map[int]*input
}

// lay reads the files behind paths, directories with everything below them, the way the page does.
func (h *host) lay(ctx context.Context, paths []string, workers int) (*laidRun, error) {
	if len(paths) == 0 {
		return nil, usagef("name a run: a directory, or its files")
	}
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	l := &laidRun{host: h, workers: workers, files: files, names: shownNames(paths, files), of: map[int]*input{}}
	var list []runfolder.File
	for i, f := range files {
		info, err := os.Stat(f.Path)
		if err != nil {
			return nil, err
		}
		l.sizes = append(l.sizes, info.Size())
		list = append(list, runfolder.File{Path: l.names[i], Size: info.Size()})
	}
	for _, task := range l.Open(list, false) {
		in, err := openInput(files[task.File].Path, false)
		if err != nil {
			l.close()
			return nil, err
		}
		l.inputs = append(l.inputs, in)
		l.of[task.File] = in
	}
	if err := l.read(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *laidRun) close() { closeInputs(l.inputs) }

// scan scans all sources, the second time with a question.
func (l *laidRun) scan(ctx context.Context, query uint64, mapper func() analysis.Mapper) error {
	var list []source.Source
	total := int64(0)
	for _, in := range l.inputs {
		list = append(list, in.source())
		total += in.info.Size()
	}
	p := l.host.progress(total)
	defer p.done()
	return analysis.Parts(ctx, list, query, mapper, analysis.Options{Workers: l.workers, Keep: analysis.All, Progress: p.show}, l.Add)
}

func (l *laidRun) read(ctx context.Context) error {
	if err := l.scan(ctx, 0, nil); err != nil {
		return err
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		needs, done := l.Audit()
		if done {
			break
		}
		l.supply(needs)
	}
	for _, in := range l.inputs {
		if more, err := in.grown(); err != nil {
			return err
		} else if more > 0 {
			l.host.note("%s has grown by %d bytes since it was opened; they are not in the result", in.name, more)
		}
	}
	return nil
}

// supply reads what the desk needs.
func (l *laidRun) supply(needs []view.Need) {
	for _, n := range needs {
		data, err := l.bytes(n)
		problem := ""
		if err != nil {
			data, problem = nil, err.Error()
		}
		l.Supply(n, data, problem)
	}
}

func (l *laidRun) bytes(n view.Need) ([]byte, error) {
	if n.File < 0 || n.File >= len(l.files) || n.Length < 0 {
		return nil, errors.New("there is no such file")
	}
	data := make([]byte, n.Length)
	if in := l.of[n.File]; in != nil {
		return data, source.ReadFull(in.source(), data, n.Offset)
	}
	f, err := os.Open(l.files[n.File].Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return data, source.ReadFull(source.Of(l.files[n.File].Name, l.sizes[n.File], f), data, n.Offset)
}

// mostRounds is how often a page may ask for more before it is given up.
const mostRounds = 64

// page makes the page of a State, with everything it needs.
func (l *laidRun) page(ctx context.Context, s view.State) (*view.Page, error) {
	for range mostRounds {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if a := l.Asking(s); a != nil && len(a.Tasks) > 0 {
			number, mapper, err := question(a)
			if err != nil {
				return nil, err
			}
			if err := l.scan(ctx, number, mapper); err != nil {
				return nil, err
			}
			continue
		}
		p, needs := l.Page(s, view.Host{}, nil)
		if len(needs) == 0 {
			return p, nil
		}
		l.supply(needs)
	}
	return nil, errors.New("the page asks for the same bytes again and again")
}

// question is what a second scan asks of every row. What a probe keeps of them is made in memory of the mapper's own, so
// every scan needs another one.
func question(a *view.Asking) (number uint64, mapper func() analysis.Mapper, err error) {
	if a.Probe != "" {
		p := view.ProbeByID(a.Probe)
		if p == nil {
			return 0, nil, fmt.Errorf("no probe is called %q", a.Probe)
		}
		return p.Number(), p.Mapper, nil
	}
	q, err := view.Ask(a.Filter)
	if err != nil {
		return 0, nil, wrongFilter(err)
	}
	return q.Number(), func() analysis.Mapper { return analysis.RowMapper(q) }, nil
}

// has tells whether a page offers a tab.
func hasTab(p *view.Page, id string) bool {
	for _, t := range p.Tabs {
		if t.ID == id {
			return true
		}
	}
	return false
}

// shownNames gives files the names that documents and bundles have: below the name of the directory that was named,
// never where that lies on this machine.
func shownNames(paths []string, files []server.NamedFile) []string {
	names := make([]string, len(files))
	taken := map[string]bool{}
	for i, f := range files {
		at := filepath.ToSlash(filepath.Clean(f.Path))
		name := path.Base(at)
		for _, given := range paths {
			given = filepath.Clean(given)
			rest, below := strings.CutPrefix(at, strings.TrimSuffix(filepath.ToSlash(given), "/")+"/")
			if given == "." {
				rest, below = at, true
			}
			if !below {
				continue
			}
			if absolute, err := filepath.Abs(given); err == nil {
				given = absolute
			}
			name = path.Join(filepath.Base(given), rest)
			break
		}
		names[i] = parcel.Unique(taken, name)
	}
	return names
}

// title names what a command was given.
func titleOf(paths []string) string { return strings.Join(paths, " ") }
