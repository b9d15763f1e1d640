package modelcall

import (
	"bytes"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsontext"
)

// A Damage is a line of a capture that is no call.
type Damage struct {
	Index  int    // position among the lines that are not blank, from 0
	Line   int    // physical line from 1
	Offset int64  // of the first byte that cannot stand, in the file
	Reason string // for people
}

// A Scan goes through the lines of one capture in order. Calls and damaged lines share one numbering; blank lines
// have no part in it (spec model-calls §4).
type Scan struct {
	Reader  *Reader
	Calls   int // readable ones so far
	Damaged []Damage

	next   int
	line   int
	offset int64
}

// Line takes the next physical line, without its LF, and gives its call; nil for a blank or damaged one.
func (s *Scan) Line(line []byte) *Call {
	s.line++
	start := s.offset
	s.offset += int64(len(line)) + 1
	if jsonl.Blank(line) {
		return nil
	}
	index := s.next
	s.next++
	c, err := s.Reader.Read(line, index)
	if err != nil {
		damage := err.(*DamageError)
		lead := len(line) - len(bytes.TrimLeft(line, "\t\n\v\f\r "))
		s.Damaged = append(s.Damaged, Damage{index, s.line, start + int64(lead+damage.Offset), damage.Reason})
		return nil
	}
	s.Calls++
	return c
}

// Data takes a whole capture file and gives every call to each, which must not keep payloads or tool calls.
func (s *Scan) Data(data []byte, each func(*Call)) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		if c := s.Line(line); c != nil {
			each(c)
		}
		data = rest
	}
}

// Gaps tells what a capture lacks; found says that its file is there, marker that the empty file of the same key is
// there which says that something was not written (spec model-calls §8.2).
func (s *Scan) Gaps(found, marker bool) []Gap {
	var gaps []Gap
	if !found && !marker {
		return []Gap{{Code: GapNoRecords}}
	}
	if n := len(s.Damaged); n > 0 {
		gaps = append(gaps, Gap{GapDamaged, "count=" + strconv.Itoa(n)})
	}
	switch {
	case marker:
		gaps = append(gaps, Gap{Code: GapIncomplete})
	case s.Calls == 0 && len(s.Damaged) == 0:
		gaps = append(gaps, Gap{Code: GapNoRecords})
	}
	return gaps
}

// AppendAttachment appends `ng_model_call_capture` around the texts of its calls.
func AppendAttachment(dst []byte, key string, m *Metrics, calls func([]byte) []byte, gaps []Gap) []byte {
	dst = jsontext.AppendQuoted(append(dst, `{"rollout_id":`...), key)
	dst = m.AppendJSON(append(dst, `,"metrics":`...))
	dst = calls(append(dst, `,"calls":[`...))
	dst = append(dst, ']')
	for i, g := range gaps {
		if i == 0 {
			dst = append(dst, `,"gaps":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = g.AppendJSON(dst)
	}
	if len(gaps) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
