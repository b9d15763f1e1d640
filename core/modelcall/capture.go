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

// An Attachment is `ng_model_call_capture` of a row: the records of its calls, their sums and what the capture lacks.
// It reuses its memory.
type Attachment struct {
	Key     string
	Metrics Metrics
	Gaps    []Gap

	heads, tails []byte
	ends         [][2]int // of every call
}

// Reset begins a new attachment.
func (a *Attachment) Reset(key string) {
	*a = Attachment{Key: key, heads: a.heads[:0], tails: a.tails[:0], ends: a.ends[:0]}
}

// Len is the number of calls.
func (a *Attachment) Len() int { return len(a.ends) }

// Add adds a call.
func (a *Attachment) Add(c *Call) {
	a.Metrics.Add(c)
	a.heads = c.AppendHead(a.heads)
	a.tails = c.AppendTail(a.tails)
	a.ends = append(a.ends, [2]int{len(a.heads), len(a.tails)})
}

// AppendJSON appends the attachment. payloads are what [Call.AppendPayload] gave for each call, nil for none.
func (a *Attachment) AppendJSON(dst []byte, payloads [][]byte) []byte {
	dst = jsontext.AppendQuoted(append(dst, `{"rollout_id":`...), a.Key)
	dst = a.Metrics.AppendJSON(append(dst, `,"metrics":`...))
	dst = append(dst, `,"calls":[`...)
	head, tail := 0, 0
	for i, end := range a.ends {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, a.heads[head:end[0]]...)
		if payloads != nil {
			dst = append(dst, payloads[i]...)
		}
		dst = append(dst, a.tails[tail:end[1]]...)
		head, tail = end[0], end[1]
	}
	dst = append(dst, ']')
	for i, g := range a.Gaps {
		if i == 0 {
			dst = append(dst, `,"gaps":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = g.AppendJSON(dst)
	}
	if len(a.Gaps) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
