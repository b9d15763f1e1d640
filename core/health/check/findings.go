package check

import (
	"encoding/binary"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory"
)

// field numbers the names of the values of findings. The numbers are part of stored digests.
type field uint8

const (
	fieldEnd field = iota
	fieldCallID
	fieldTurn
	fieldSourceFile
	fieldLine
	fieldReason
	fieldFailedCheck
	fieldError
	fieldDuplicateCount
	fieldModelRef
	fieldStatus
	fieldErrorCategory
	fieldObservedCalls
	fieldSuccessfulCalls
	fieldCompletionTokens
	fieldMissing
	fieldKind
	fieldCount
	fieldObservationGap
	fieldInvocationID
	fieldTerminal
	fieldTranscriptPrompt
	fieldTranscriptCompletion
	fieldCapturePrompt
	fieldCaptureCompletion
	fieldFinishReason
	fieldWhy
	fieldResponseStatus
	fieldUnresolved
	fieldNames
)

// part says where a field stands in a finding.
type part uint8

const (
	detail part = iota
	locator
	aside
)

var fields = [fieldNames]struct {
	name string
	part part
}{
	fieldCallID:               {"call_id", locator},
	fieldTurn:                 {"turn", locator},
	fieldSourceFile:           {"source_file", locator},
	fieldLine:                 {"line", locator},
	fieldReason:               {"reason", detail},
	fieldFailedCheck:          {"failed_check", detail},
	fieldError:                {"error", detail},
	fieldDuplicateCount:       {"duplicate_count", detail},
	fieldModelRef:             {"model_ref", detail},
	fieldStatus:               {"status", detail},
	fieldErrorCategory:        {"error_category", detail},
	fieldObservedCalls:        {"observed_calls", detail},
	fieldSuccessfulCalls:      {"successful_calls", detail},
	fieldCompletionTokens:     {"completion_tokens", detail},
	fieldMissing:              {"missing", detail},
	fieldKind:                 {"kind", detail},
	fieldCount:                {"count", detail},
	fieldObservationGap:       {"observation_gap", detail},
	fieldInvocationID:         {"invocation_id", detail},
	fieldTerminal:             {"terminal", detail},
	fieldTranscriptPrompt:     {"transcript_prompt", detail},
	fieldTranscriptCompletion: {"transcript_completion", detail},
	fieldCapturePrompt:        {"capture_prompt", detail},
	fieldCaptureCompletion:    {"capture_completion", detail},
	fieldFinishReason:         {"finish_reason", detail},
	fieldWhy:                  {"why", aside},
	fieldResponseStatus:       {"response_status", aside},
	fieldUnresolved:           {"unresolved_references", aside},
}

// phrase numbers texts that occur again and again. The numbers are part of stored digests.
type phrase uint8

const (
	phraseRaised phrase = iota
	phraseRecord
	phraseTrajectory
	phraseNoTurns
	phraseHollow
	phrasePrompt
	phraseCompletion
	phraseMissingCall
	phraseDuplicatedCall
	phraseConflict
	phraseUnmatched
	phraseAmbiguous
	phraseConflictGap
	phraseCount
)

// phrases are what reports print; they are given by the reference.
var phrases = [phraseCount]string{
	phraseRaised:         "check raised an unexpected exception",
	phraseRecord:         "rollout record is unreadable",
	phraseTrajectory:     "canonical trajectory is unreadable",
	phraseNoTurns:        "no agent turn with model activity",
	phraseHollow:         "agent turn has no message or tool calls",
	phrasePrompt:         "prompt_tokens",
	phraseCompletion:     "completion_tokens",
	phraseMissingCall:    "missing_captured_call",
	phraseDuplicatedCall: "duplicated_captured_call",
	phraseConflict:       "conflicting_call_ownership",
	phraseUnmatched:      gapUnmatched,
	phraseAmbiguous:      gapAmbiguous,
	phraseConflictGap:    gapConflict,
}

// Stored forms of a value.
const (
	storedNull = iota
	storedFalse
	storedTrue
	storedInt    // zig-zag
	storedBig    // decimal text
	storedText   // length and bytes
	storedPhrase // number
	storedList   // count and numbers of phrases
)

// spot says where in the row a finding stands.
type spot struct {
	kind       spotKind
	at         jsonscan.Value // the value that shows it, absent if offset says it
	offset     int64          // from the first byte of the line
	path       string         // of spotPath
	a, b       int            // positions that the kind needs
	turn, call int            // −1 for none
}

type spotKind uint8

const (
	spotRow spotKind = iota
	spotPath
	spotTurns
	spotTurn
	spotCall
	spotTurnRef
	spotInvocationRef
	spotGap
	spotUsage
	spotKinds
)

// Findings takes what a check finds and stores it at once, without building values. A check calls add for
// every finding and then one function per field, locator fields first, all in report order.
type Findings struct {
	out   []byte // finished groups
	body  []byte // findings of the check that runs
	n     int
	among int
	lead  int64 // where the row's text begins in its line
	stop  spot  // where the check stopped, if it did
}

// looked notes how many turns, calls or chains the check looks at.
func (f *Findings) looked(n int) { f.among = n }

// stopAt notes the place that made the check stop.
func (f *Findings) stopAt(at spot) { f.stop = at }

// add begins a finding.
func (f *Findings) add(at spot) {
	if f.n > 0 {
		f.body = append(f.body, byte(fieldEnd))
	}
	f.n++
	offset, length := at.offset, 0
	if at.at.Exists() {
		offset, length = f.lead+int64(at.at.Offset()), at.at.Len()
	}
	f.body = append(f.body, byte(at.kind))
	f.body = binary.AppendUvarint(f.body, uint64(max(offset, 0)))
	f.body = binary.AppendUvarint(f.body, uint64(length))
	f.body = binary.AppendUvarint(f.body, uint64(at.turn+1))
	f.body = binary.AppendUvarint(f.body, uint64(at.call+1))
	switch at.kind {
	case spotPath:
		f.body = binary.AppendUvarint(f.body, uint64(len(at.path)))
		f.body = append(f.body, at.path...)
	case spotTurnRef, spotInvocationRef:
		f.body = binary.AppendUvarint(f.body, uint64(at.a))
		f.body = binary.AppendUvarint(f.body, uint64(at.b))
	case spotGap:
		f.body = binary.AppendUvarint(f.body, uint64(at.a))
	}
}

func (f *Findings) null(name field) { f.body = append(f.body, byte(name), storedNull) }

func (f *Findings) flag(name field, on bool) {
	stored := byte(storedFalse)
	if on {
		stored = storedTrue
	}
	f.body = append(f.body, byte(name), stored)
}

func (f *Findings) number(name field, n integer.Int) {
	f.body = append(f.body, byte(name))
	f.body = appendInt(f.body, n)
}

func appendInt(dst []byte, n integer.Int) []byte {
	if small, ok := n.Int64(); ok {
		return binary.AppendVarint(append(dst, storedInt), small)
	}
	text := n.String()
	dst = binary.AppendUvarint(append(dst, storedBig), uint64(len(text)))
	return append(dst, text...)
}

func (f *Findings) count(name field, n int) { f.number(name, integer.Of(int64(n))) }

// maybe stores a number that may be null.
func (f *Findings) maybe(name field, c trajectory.Count) {
	if !c.Set {
		f.null(name)
		return
	}
	f.number(name, c.Int)
}

// textHead begins a text of size bytes.
func (f *Findings) textHead(name field, size int) {
	f.body = append(f.body, byte(name), storedText)
	f.body = binary.AppendUvarint(f.body, uint64(size))
}

func (f *Findings) text(name field, b []byte) {
	f.textHead(name, len(b))
	f.body = append(f.body, b...)
}

// textOrNull stores a text that may be null.
func (f *Findings) textOrNull(name field, t trajectory.Text) {
	if !t.Set {
		f.null(name)
		return
	}
	f.text(name, t.Bytes)
}

// words stores a text of our own.
func (f *Findings) words(name field, s string) {
	f.textHead(name, len(s))
	f.body = append(f.body, s...)
}

func (f *Findings) phrase(name field, p phrase) {
	f.body = append(f.body, byte(name), storedPhrase, byte(p))
}

func (f *Findings) list(name field, list ...phrase) {
	f.body = append(f.body, byte(name), storedList, byte(len(list)))
	for _, p := range list {
		f.body = append(f.body, byte(p))
	}
}

// label stores the name of a call in the locator: its id, else its response id, else a number.
func (f *Findings) label(c *Call, fallback int) {
	switch {
	case !c.ID.Empty():
		f.text(fieldCallID, c.ID.Bytes)
	case !c.ResponseID.Empty():
		f.text(fieldCallID, c.ResponseID.Bytes)
	default:
		f.words(fieldCallID, integer.Of(int64(fallback)).String())
	}
}

// A Judgement runs the rollout checks over one row after the other. The zero Judgement is ready.
type Judgement struct {
	Outcomes [Profiles][RolloutCount]Outcome
	findings Findings
}

// Findings is what fired or stopped, in stored form for [Groups]; valid until the next Judge.
func (j *Judgement) Findings() []byte { return j.findings.out }

// Judge runs every rollout check for every profile. Checks that are ignored are judged as well: ignoring
// is a matter of the reduction.
func (j *Judgement) Judge(e *Evidence) {
	f := &j.findings
	f.out = f.out[:0]
	f.lead = e.Row.Lead
	// The profiles can only part ways where a call is exempt or invocations refer to further calls.
	differs := e.Exempt > 0 || len(e.refs) > e.turnRefs
	for i := range RolloutCount {
		start := len(f.out)
		j.Outcomes[V07][i] = j.run(e, i, V07)
		middle := len(f.out)
		if !registry[i].Varies || !differs {
			j.Outcomes[Main][i] = j.Outcomes[V07][i]
			if middle > start {
				f.out[start+1] |= 1 << Main
			}
			continue
		}
		j.Outcomes[Main][i] = j.run(e, i, Main)
		if j.Outcomes[Main][i] == j.Outcomes[V07][i] && middle > start &&
			string(f.out[start+2:middle]) == string(f.out[middle+2:]) {
			f.out = f.out[:middle]
			f.out[start+1] |= 1 << Main
		}
	}
	e.profile = V07
}

// run judges one check for one profile and stores its group of findings, if any.
func (j *Judgement) run(e *Evidence, position int, p Profile) Outcome {
	c, f := registry[position], &j.findings
	e.profile = p
	for _, n := range c.Needs {
		if missing := needs[n].missing(e); missing != Clean {
			return missing
		}
	}
	f.body, f.n, f.among = f.body[:0], 0, 1
	outcome := Fired
	switch c.Run(e, f) {
	case TypeError:
		outcome = RaisedTypeError
	case AttributeError:
		outcome = RaisedAttributeError
	default:
		if f.n == 0 {
			return Clean
		}
	}
	if outcome != Fired {
		// What a check found before it stopped is lost; its place is what remains.
		f.body, f.n, f.among = f.body[:0], 0, 1
		f.add(f.stop)
	}
	f.body = append(f.body, byte(fieldEnd))
	f.out = append(f.out, byte(position), 1<<p)
	f.out = binary.AppendUvarint(f.out, uint64(f.n))
	f.out = binary.AppendUvarint(f.out, uint64(f.among))
	f.out = append(f.out, f.body...)
	return outcome
}
