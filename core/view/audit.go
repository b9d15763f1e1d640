package view

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/verify"
)

// An audit is the verification of the whole list of files: what was asked for, what happened to it, whether the files
// agree (package verify). It runs when every row is in and takes the rows of rollouts files from their scan; what
// else it reads it asks the host for, a piece at a time. In between the desk answers other requests.
type audit struct {
	next func() (auditStep, bool)
	stop func()

	waits bool // for need
	need  Need
	data  []byte
	err   error
	fed   bool // since the last answer that needed nothing

	report *verify.Report
	failed error           // why there is no report
	sides  map[int]sidecar // what scores keep of the files beside the rollouts, by file
	done   bool
}

// An auditStep ends a stretch of an audit: bytes are needed, or it is time for others.
type auditStep struct {
	need Need
	ask  bool
}

// auditRows is after how many rows others get their turn.
const auditRows = 5_000

var errStopped = errors.New("the files have changed meanwhile")

// AuditPending tells whether the files should be verified: [Desk.Audit] has something to do.
func (d *Desk) AuditPending() bool {
	return d.table != nil && d.table.Complete() && (d.audited == nil || !d.audited.done)
}

// Audit verifies the files, one stretch at a time. needs lists bytes that must be supplied first; done tells that
// the report is there, or will never be.
func (d *Desk) Audit() (needs []Need, done bool) {
	if !d.AuditPending() {
		return nil, true
	}
	if d.audited == nil {
		d.audited = d.newAudit()
	}
	a := d.audited
	if a.waits {
		return []Need{a.need}, false
	}
	step, ok := a.next()
	if !ok {
		a.done = true
		a.stop()
		return nil, true
	}
	fed := a.fed
	a.fed = false
	if step.ask {
		// One need a stretch: hosts take an answer that needs bytes again and again for one that never comes.
		if a.waits, a.need = true, step.need; !fed {
			return []Need{a.need}, false
		}
	}
	return nil, false
}

// supply gives an audit the bytes it waits for and tells whether it did.
func (a *audit) supply(n Need, data []byte, problem string) bool {
	if a == nil || !a.waits || a.need != n {
		return false
	}
	a.waits, a.data, a.err, a.fed = false, data, nil, true
	if problem != "" {
		a.err = errors.New(problem)
	}
	return true
}

// close gives an audit up that is not done.
func (a *audit) close() {
	if a != nil && !a.done {
		a.done, a.failed = true, errStopped
		a.stop()
	}
}

// newAudit prepares the verification of the files as they are listed.
func (d *Desk) newAudit() *audit {
	a := new(audit)
	var files []verify.File
	var numbers []int // in the list of the desk
	for _, i := range d.listing.Order {
		e := &d.listing.Entries[i]
		if e.SameAs >= 0 {
			continue
		}
		files = append(files, verify.File{Path: e.Name})
		numbers = append(numbers, i)
	}
	table, sourceOf, listing := d.table, d.sourceOf, d.listing
	a.next, a.stop = iter.Pull(func(yield func(auditStep) bool) {
		for n := range files {
			size := d.files[numbers[n]].Size
			files[n].Source = &auditSource{a, yield, numbers[n], files[n].Path, size, sidecarScan(listing.Entries[numbers[n]].Kind, size)}
		}
		o := verify.Options{Observe: true, Scanned: func(n int) verify.Scanned {
			source, known := sourceOf[numbers[n]]
			if !known {
				return nil
			}
			rows, ok := table.Scanned(source)
			if !ok {
				return nil
			}
			return &pausing{rows, yield}
		}}
		a.report, a.failed = verify.Run(context.Background(), files, o)
		a.sides = map[int]sidecar{}
		for n, i := range numbers {
			source := files[n].Source.(*auditSource)
			if source.scan == nil {
				continue
			}
			side, err := readSidecar(source)
			if err != nil {
				return
			}
			a.sides[i] = side
		}
	})
	return a
}

// auditSource is a file whose bytes the host supplies.
type auditSource struct {
	audit *audit
	yield func(auditStep) bool
	file  int
	name  string
	size  int64
	scan  *analysis.Scan // of a file that scores read as well: it takes the bytes as they come, nil for others
}

func (s *auditSource) Name() string { return s.name }
func (s *auditSource) Size() int64  { return s.size }

func (s *auditSource) ReadAt(b []byte, offset int64) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if offset >= s.size {
		return 0, io.EOF
	}
	length := min(int64(len(b)), s.size-offset)
	if !s.yield(auditStep{Need{s.file, offset, length}, true}) {
		return 0, errStopped
	}
	if s.audit.err != nil {
		return 0, s.audit.err
	}
	n := copy(b, s.audit.data)
	s.audit.data = nil
	if s.scan != nil && offset == s.scan.Next() {
		s.scan.Feed(b[:n])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// pausing are scanned rows that let others have their turn now and then.
type pausing struct {
	verify.Scanned
	yield func(auditStep) bool
}

func (p *pausing) Each(f func(row *records.Row, fault *store.Fault) error) error {
	n := 0
	return p.Scanned.Each(func(row *records.Row, fault *store.Fault) error {
		if n++; n%auditRows == 0 && !p.yield(auditStep{}) {
			return errStopped
		}
		return f(row, fault)
	})
}

// Audited is what the files say about each other, nil before [Desk.Audit] is done; the error says why there is no
// report then.
func (d *Desk) Audited() (*verify.Report, error) {
	if d.audited == nil || !d.audited.done {
		return nil, nil
	}
	return d.audited.report, d.audited.failed
}
