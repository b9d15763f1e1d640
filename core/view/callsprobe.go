package view

import (
	"encoding/binary"
	"sort"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
)

// callsProbe keeps of every row what the Calls and the Performance tab are made of, in one scan for both:
//
//	length, then the digest of package perf
//	length, then the key of the row's capture, see [modelcall.Names]
//	the digest of package modelcall
var callsProbe = &Probe{ID: "calls", number: probeNumber("calls"), mapper: func() analysis.Mapper { return new(callsMapper) }}

type callsMapper struct {
	calls modelcall.Mapper
	times perf.Mapper
	part  []byte
}

// longestKey bounds the keys of captures that are kept. A file name is no longer.
const longestKey = 255

// Append keeps what there is of a row.
func (m *callsMapper) Append(dst []byte, _ *jsonl.Line, row *rollout.Row) []byte {
	m.part = m.times.Append(m.part[:0], row)
	dst = binary.AppendUvarint(dst, uint64(len(m.part)))
	dst = append(dst, m.part...)
	key := ""
	if row.Problem == nil {
		names := modelcall.NamesOf(row)
		if k, err := names.Key(); err == nil && len(k) <= longestKey {
			key = k
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	return m.calls.Append(dst, row)
}

// A callsRow is what the probe kept of a row.
type callsRow struct {
	times, key, calls []byte
}

func parseCallsRow(b []byte) (r callsRow, ok bool) {
	for _, part := range [...]*[]byte{&r.times, &r.key} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return callsRow{}, false
		}
		*part, b = b[size:size+int(n)], b[size+int(n):]
	}
	r.calls = b
	return r, true
}

// callsOf gives what the probe kept of a row; ok is false while it is not there.
func (d *Desk) callsOf(c *selection, row *analysis.Row) (callsRow, bool) {
	b, ok := d.probed(callsProbe).Row(c.sources[row.Source], row.Number)
	if !ok {
		return callsRow{}, false
	}
	return parseCallsRow(b)
}

// callNumbers numbers the calls of all rows: those of the row with an ordinal are starts[ordinal] and the ones up to
// starts[ordinal+1]. It is made again when rows or answers come in.
type callNumbers struct {
	rows, probes int
	starts       []int32
	looked       int // rows that have an answer
}

func (d *Desk) callNumbers(c *selection) *callNumbers {
	n := &c.called.numbers
	if n.starts != nil && n.rows == c.table.Rows() {
		// What is made of all rows is not made again for every piece of the scan: each time some more of them are wanted.
		if more := c.probes - n.probes; more == 0 || more < n.probes/4 && !d.probedAll(c, callsProbe) {
			return n
		}
	}
	*n = callNumbers{rows: c.table.Rows(), probes: c.probes, starts: make([]int32, 1, c.table.Rows()+1)}
	at := int32(0)
	c.table.Each(0, func(row *analysis.Row) bool {
		if r, ok := d.callsOf(c, row); ok {
			n.looked++
			at += int32(modelcall.Count(r.calls))
		}
		n.starts = append(n.starts, at)
		return true
	})
	return n
}

// total is the number of calls so far.
func (n *callNumbers) total() int { return int(n.starts[len(n.starts)-1]) }

// row gives the row of a call, and its place among the calls of that row.
func (n *callNumbers) row(call int32) (ordinal, index int) {
	ordinal = sort.Search(len(n.starts)-1, func(i int) bool { return n.starts[i+1] > call })
	return ordinal, int(call - n.starts[ordinal])
}

// called is what the tabs about calls and time have made of the rows.
type called struct {
	numbers  callNumbers
	calls    callList
	timing   timing
	captures captured
}
