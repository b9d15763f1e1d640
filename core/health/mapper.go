package health

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// A Mapper makes digests of rows. It reuses its memory and belongs to one goroutine; the zero Mapper is
// ready.
type Mapper struct {
	reader    trajectory.Reader
	evidence  check.Evidence
	judgement check.Judgement
	invalid   check.Invalid
	failures  []trajectory.Count // statuses of failed calls
}

// Append appends the digest of a row to dst. The identity of the row is not part of it.
func (m *Mapper) Append(dst []byte, row *rollout.Row) []byte {
	if row.Problem != nil || row.Trajectory.IsNull() {
		return m.AppendRecord(dst, row, nil, nil)
	}
	record, err := m.reader.Read(row.Trajectory)
	return m.AppendRecord(dst, row, record, err)
}

// AppendRecord is Append for a caller that has read the row's trajectory: record and err are what
// [trajectory.Reader.Read] gave for it, both nil for a row without one.
func (m *Mapper) AppendRecord(dst []byte, row *rollout.Row, record *trajectory.Record, err error) []byte {
	var invalid *check.Invalid
	if err != nil {
		record, invalid = nil, &m.invalid
		m.invalid = check.Invalid{Class: trajectory.ClassValidation, Offset: -1, Path: trajectoryPath, Reason: err.Error()}
		if e, ok := err.(*trajectory.Invalid); ok {
			m.invalid = check.Invalid{Class: e.Class, Offset: int64(e.Offset), Path: trajectoryPath + e.Path, Reason: e.Reason}
		}
	}
	m.evidence.Collect(row, record, invalid)
	m.judgement.Judge(&m.evidence)
	return m.append(dst)
}

const trajectoryPath = "/ng_trajectory"

// The digest of a row is, one behind the other:
//
//	version    one byte
//	flags      one byte
//	outcomes   of the rollout checks, runs of equal ones in a byte each: outcome and length − 1 << 5
//	outcomes   of profile main, if they differ
//	usage      prompt, completion: those that the row counts
//	calls      number, Σ prompt, Σ completion, successful ones of turns, replayed ones, and the statuses
//	           of failed ones with their counts: only if there are calls
//	findings   as package check stores them
const digestVersion = 1

const (
	hasPrompt = 1 << iota
	hasCompletion
	hasCalls
	endedOnError
	turnCallsObserved
	hasMain
	knownFlags = 1<<iota - 1
)

func (m *Mapper) append(dst []byte) []byte {
	e, j := &m.evidence, &m.judgement
	flags := byte(0)
	for _, f := range [...]struct {
		on  bool
		bit byte
	}{
		{e.Usage.HasPrompt, hasPrompt},
		{e.Usage.HasCompletion, hasCompletion},
		{len(e.Calls) > 0, hasCalls},
		{e.EndedOnError(), endedOnError},
		{e.TurnCallsObserved(), turnCallsObserved},
		{j.Outcomes[check.V07] != j.Outcomes[check.Main], hasMain},
	} {
		if f.on {
			flags |= f.bit
		}
	}
	dst = append(dst, digestVersion, flags)
	dst = appendOutcomes(dst, &j.Outcomes[check.V07])
	if flags&hasMain != 0 {
		dst = appendOutcomes(dst, &j.Outcomes[check.Main])
	}
	if e.Usage.HasPrompt {
		dst = binary.AppendUvarint(dst, e.Usage.Prompt.Magnitude)
	}
	if e.Usage.HasCompletion {
		dst = binary.AppendUvarint(dst, e.Usage.Completion.Magnitude)
	}
	if len(e.Calls) > 0 {
		dst = m.appendCalls(dst)
	}
	return append(dst, j.Findings()...)
}

func appendOutcomes(dst []byte, outcomes *[check.RolloutCount]check.Outcome) []byte {
	for i := 0; i < len(outcomes); {
		run := 1
		for i+run < len(outcomes) && outcomes[i+run] == outcomes[i] && run < 8 {
			run++
		}
		dst = append(dst, byte(outcomes[i])|byte(run-1)<<5)
		i += run
	}
	return dst
}

func (m *Mapper) appendCalls(dst []byte) []byte {
	e := &m.evidence
	var prompt, completion integer.Int
	m.failures = m.failures[:0]
	for i := range e.Calls {
		c := &e.Calls[i]
		prompt = prompt.Add(c.PromptTokens.Int)
		completion = completion.Add(c.CompletionTokens.Int)
		if c.Failed {
			m.failures = append(m.failures, c.StatusCode)
		}
	}
	successful := 0
	for _, i := range e.Turned.Matched {
		if e.Calls[i].Successful {
			successful++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.Calls)))
	dst = check.AppendInt(dst, prompt)
	dst = check.AppendInt(dst, completion)
	dst = binary.AppendUvarint(dst, uint64(successful))
	dst = binary.AppendUvarint(dst, uint64(e.Replayed))

	slices.SortFunc(m.failures, compareStatus)
	kinds := 0
	for i := range m.failures {
		if i == 0 || compareStatus(m.failures[i-1], m.failures[i]) != 0 {
			kinds++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(kinds))
	for i := 0; i < len(m.failures); {
		n := 1
		for i+n < len(m.failures) && compareStatus(m.failures[i], m.failures[i+n]) == 0 {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		if s := m.failures[i]; s.Set {
			dst = check.AppendInt(append(dst, 1), s.Int)
		} else {
			dst = append(dst, 0)
		}
		i += n
	}
	return dst
}

// compareStatus orders statuses, those that are null first.
func compareStatus(a, b trajectory.Count) int {
	if !a.Set || !b.Set {
		return cmp.Compare(truth(a.Set), truth(b.Set))
	}
	return a.Int.Cmp(b.Int)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
