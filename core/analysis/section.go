package analysis

import (
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Mapper appends what it keeps of a row, read or refused. It must keep neither the line nor the row.
type Mapper interface {
	Append(dst []byte, line *jsonl.Line, row *rollout.Row) []byte
}

// A BlankMapper has something to say about blank lines as well when it is asked in a second scan. An empty answer is
// none.
type BlankMapper interface {
	Mapper
	AppendBlank(dst []byte, line *jsonl.Line) []byte
}

// RowMapper makes a Mapper of one that needs no line.
func RowMapper(m interface {
	Append(dst []byte, row *rollout.Row) []byte
}) Mapper {
	return rowMapper(m.Append)
}

type rowMapper func(dst []byte, row *rollout.Row) []byte

func (f rowMapper) Append(dst []byte, _ *jsonl.Line, row *rollout.Row) []byte { return f(dst, row) }

// A Section is the part of a row's digest that one kind of evidence keeps.
type Section uint8

// The sections, in the order of the digest.
const (
	Health  Section = iota
	Metrics         // rewards, tokens, whatever scores are made of
	Records         // what tells which logical rollout a row speaks for
	sections
)

// Sections is a set of them.
type Sections uint8

// Only is the set of the given sections.
func Only(list ...Section) Sections {
	s := Sections(0)
	for _, section := range list {
		s |= 1 << section
	}
	return s
}

// All is the set of all sections: what a page shows of a run at once. A verdict needs Health alone.
const All = Sections(1<<sections - 1)

// Has tells whether a section is in the set.
func (s Sections) Has(section Section) bool { return s>>section&1 != 0 }

func (s Sections) mappers() (list [sections]Mapper) {
	for section, make := range [sections]func() Mapper{
		Health:  func() Mapper { return RowMapper(new(health.Mapper)) },
		Metrics: func() Mapper { return RowMapper(new(metrics.Mapper)) },
		Records: func() Mapper { return new(records.Mapper) },
	} {
		if s.Has(Section(section)) {
			list[section] = make()
		}
	}
	return list
}
