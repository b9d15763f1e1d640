package analysis

import (
	"errors"

	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/store"
)

// Scanned are the rows of one complete source as the rules of logical rollouts see them. The scan must have kept
// [Records].
type Scanned struct {
	table  *Table
	source int
}

// Scanned gives the rows of a source; ok is false if not every byte of it is in, or its rows were not kept.
func (t *Table) Scanned(source int) (s *Scanned, ok bool) {
	if source < 0 || source >= len(t.sources) || !t.sources[source].complete() {
		return nil, false
	}
	for _, p := range t.sources[source].parts {
		if !p.Sections.Has(Records) {
			return nil, false
		}
	}
	return &Scanned{t, source}, true
}

// Account counts the lines of the source.
func (s *Scanned) Account() store.Account {
	a := s.table.Account(s.source)
	return store.Account{Lines: a.Lines, Rows: a.Rows(), Blank: a.Blank, Bytes: a.Bytes()}
}

// Each calls f for every row, and for every line that is no row, in the order of the source. It ends with the first
// error; a damaged digest is one.
func (s *Scanned) Each(f func(row *records.Row, fault *store.Fault) error) error {
	source := &s.table.sources[s.source]
	for part := range source.ready {
		for i := range source.parts[part].Rows() {
			at := source.row(s.source, part, i, 0)
			d, err := at.Digest()
			if err != nil {
				return err
			}
			row, fault, err := records.OpenDigest(d.Records, at.Line, at.Offset, at.Length)
			if err != nil {
				return errors.Join(errPartial, err)
			}
			if fault != nil {
				err = f(nil, fault)
			} else {
				err = f(&row, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
