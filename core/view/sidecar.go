package view

import (
	"errors"
	"io"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/runfolder"
)

// A sidecar is what scores keep of a file beside the rollouts: which rollouts failed, or which there should be. It is
// scanned as the audit reads the file for the verification.
type sidecar struct {
	rows    *analysis.Partial // digests of metrics, nil for none
	problem string            // why it could not be read to its end
}

// sidecarPiece is how much of one is asked for at once, in bytes.
const sidecarPiece = 4 << 20

// sidecarMapper tells whether scores read files of a kind, and what they keep of its rows.
func sidecarMapper(kind runfolder.Kind) *metrics.Mapper {
	switch kind {
	case runfolder.Failures:
		return &metrics.Mapper{Fields: metrics.FailureFields}
	case runfolder.MaterializedInputs:
		return new(metrics.Mapper)
	}
	return nil
}

// sidecarScan begins the scan of a file of a kind, nil where scores do not read it.
func sidecarScan(kind runfolder.Kind, size int64) *analysis.Scan {
	m := sidecarMapper(kind)
	if m == nil {
		return nil
	}
	return analysis.NewScan(0, 0, size, 0).Ask(1, analysis.RowMapper(m))
}

// readSidecar reads what the verification has left of a file and ends its scan. The error is that of a list of files
// that changed meanwhile.
func readSidecar(s *auditSource) (sidecar, error) {
	b := make([]byte, min(sidecarPiece, s.size))
	var side sidecar
	for !s.scan.Done() && s.scan.Next() < s.size {
		n, err := s.ReadAt(b, s.scan.Next())
		switch {
		case errors.Is(err, errStopped):
			return side, err
		case err != nil && !errors.Is(err, io.EOF):
			side.problem = err.Error()
		}
		if err != nil || n == 0 {
			break
		}
	}
	s.scan.Finish()
	side.rows = s.scan.Take()
	return side, nil
}

// sidecars puts the rows of one kind of file of the selection together; nil if there is none. problem names a file
// that could not be read to its end.
func (d *Desk) sidecars(c *selection, kind runfolder.Kind) (run *metrics.Run, problem string) {
	for n, file := range d.companions(c, kind) {
		side := d.audited.sides[file]
		name := d.listing.Entries[file].Name
		if side.problem != "" && problem == "" {
			problem = name + ": " + side.problem
		}
		if side.rows == nil {
			continue
		}
		if run == nil {
			run = metrics.NewRun(metrics.Options{Lenient: true})
		}
		line := int64(0)
		side.rows.Each(func(digest []byte) {
			line++
			if run.Add(&metrics.Row{Source: n, Name: name, Line: line, Digest: digest}) != nil && problem == "" {
				problem = name + ": a row of it is damaged"
			}
		})
	}
	return run, problem
}

// companions lists the files of a kind that belong to the rollouts files of a selection.
func (d *Desk) companions(c *selection, kind runfolder.Kind) []int {
	chosen := map[int]bool{}
	for _, source := range c.sources {
		chosen[d.sources[source]] = true
	}
	var list []int
	for i := range d.listing.Runs {
		for _, part := range d.listing.Runs[i].Parts {
			if part.Output < 0 || !chosen[part.Output] {
				continue
			}
			for _, file := range part.Companions {
				if d.listing.Entries[file].Kind == kind {
					list = append(list, file)
				}
			}
		}
	}
	return list
}
