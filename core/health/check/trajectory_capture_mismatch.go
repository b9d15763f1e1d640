package check

var captureMismatch = Check{
	ID:      "trajectory_capture_mismatch",
	Scope:   Rollout,
	Subject: "trajectory_capture",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedReferences},
	Reads: []string{"ng_trajectory.turns[].model_calls", "ng_trajectory.invocations[].model_calls", "ng_trajectory.model_calls[].model_call_id",
		"ng_trajectory.model_calls[].response_metadata.response_id", "ng_trajectory.model_calls[].response_metadata.model_ref",
		"ng_trajectory.gaps[]"},
	Title: "Transcript and captured calls do not fit",
	Text: "A reference of a turn or an invocation leads to no captured call, or fits several. Only explicit references bind: by call id, " +
		"confirmed by whatever model and response id the reference adds, or by model and response id together. References that " +
		"look alike count once. Besides, each gap that reports an unmatched, an ambiguous or a contested reference is a finding, unless the " +
		"same kind was already found for the same name. Calls are named by the part of their id behind the last colon. Unobserved with " +
		"a gap in the capture of calls, and when there is neither a reference nor such a gap.",
	Since: "0.7.0",
	Run:   runCaptureMismatch,
	Say: func(f *Finding) string {
		name := f.Get("call_id").Text
		s := ""
		switch f.Get("kind").Text {
		case phrases[phraseMissingCall]:
			s = "no captured call belongs to the reference " + name
		case phrases[phraseDuplicatedCall]:
			s = "several captured calls belong to the reference " + name
			if n := f.Get("count"); n.Kind == Int {
				s = n.String() + " captured calls belong to the reference " + name
			}
		default:
			s = "more than one owner claims call " + name
		}
		if gap := f.Get("observation_gap"); gap.Kind == Text {
			s += ", by gap " + gap.Text
			if id := f.Get("invocation_id"); id.Kind == Text {
				s += " of invocation " + id.Text
			}
		}
		return s
	},
}

func runCaptureMismatch(e *Evidence, f *Findings) Raised {
	f.looked(len(e.refs) + len(e.contradictions))
	e.labels.reset(len(e.refs))
	e.texts = e.texts[:0]
	walk := e.refWalk()
	for i := range e.refs {
		b := &e.refs[i]
		if name := refLabel(b.ref); b.matches == 0 && e.newLabel(byte(phraseMissingCall), name) {
			f.add(walk.at(i))
			f.text(fieldCallID, name)
			f.phrase(fieldKind, phraseMissingCall)
		}
	}
	walk = e.refWalk()
	for i := range e.refs {
		b := &e.refs[i]
		if name := refLabel(b.ref); b.matches > 1 && e.newLabel(byte(phraseDuplicatedCall), name) {
			f.add(walk.at(i))
			f.text(fieldCallID, name)
			f.phrase(fieldKind, phraseDuplicatedCall)
			f.count(fieldCount, int(b.matches))
		}
	}
	gaps := elements{walk: e.Row.Trajectory.Get("gaps").Elements()}
	for _, i := range e.contradictions {
		gap := &e.Record.Gaps[i]
		name := behindColon(gap.Detail.Bytes)
		if gap.Detail.Empty() {
			name = unknown
		}
		kind, code := phraseConflict, phraseConflictGap
		switch string(gap.Code.Bytes) {
		case gapUnmatched:
			kind, code = phraseMissingCall, phraseUnmatched
		case gapAmbiguous:
			kind, code = phraseDuplicatedCall, phraseAmbiguous
		}
		if e.oldLabel(byte(kind), name) {
			continue
		}
		f.add(spot{kind: spotGap, at: gaps.at(int(i)), a: int(i), turn: -1, call: -1})
		f.text(fieldCallID, name)
		f.phrase(fieldKind, kind)
		f.phrase(fieldObservationGap, code)
		f.textOrNull(fieldInvocationID, gap.InvocationID)
	}
	return Finished
}

// unknown names the call of a gap that names none.
var unknown = []byte("unknown")
