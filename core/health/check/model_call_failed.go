package check

import "github.com/rollscope/rollscope/core/trajectory"

var callFailed = Check{
	ID:      "model_call_failed",
	Scope:   Rollout,
	Subject: "model_call",
	Needs:   []Need{NeedRow, NeedTrajectory, NeedCalls, NeedMatched},
	Reads: []string{"ng_trajectory.model_calls[].response_metadata.status_code", "ng_trajectory.model_calls[].response_metadata.error_category",
		"ng_trajectory.model_calls[].response_metadata.response_status", "ng_trajectory.turns[].model_calls",
		"ng_trajectory.invocations[].model_calls", "ng_trajectory.gaps[].code"},
	Title: "A model call failed",
	Text: "A call that a turn or an invocation refers to failed: its status is 400 or higher, it has an error category (even one of a single " +
		"space), or its response status is failed, error or cancelled. The finding says whether it is terminal: the last of the referenced " +
		"calls by position, known only when every reference leads to exactly one captured call. Unobserved with a gap in the capture of calls, and when no " +
		"reference leads to a captured call.",
	Since: "0.7.0",
	Run:   runCallFailed,
	Say: func(f *Finding) string {
		s := "call " + f.Get("call_id").Text + ": " + failure(f)
		switch {
		case f.Get("terminal").True:
			s += ", the last call"
		case !f.Get("unresolved_references").True:
			s += ", not the last call"
		}
		return s
	},
}

func runCallFailed(e *Evidence, f *Findings) Raised {
	f.looked(len(e.Owned.Matched))
	complete := e.Owned.Complete()
	for n, i := range e.Owned.Matched {
		c := &e.Calls[i]
		if !c.Failed {
			continue
		}
		f.add(e.callSpot(i))
		f.label(c, n)
		f.failure(c)
		f.flag(fieldTerminal, complete && n == len(e.Owned.Matched)-1)
		f.response(c)
		if !complete {
			f.flag(fieldUnresolved, true)
		}
	}
	return Finished
}

// failure stores status and error category of a call.
func (f *Findings) failure(c *Call) {
	f.maybe(fieldStatus, c.StatusCode)
	f.textOrNull(fieldErrorCategory, c.ErrorCategory)
}

// response adds the response status, which reports leave out, where it may be what made the call fail.
func (f *Findings) response(c *Call) {
	if !c.ResponseStatus.Empty() {
		f.text(fieldResponseStatus, c.ResponseStatus.Bytes)
	}
}

// model stores a model as "type/name".
func (f *Findings) model(name field, m *trajectory.ModelRef) {
	size := len(m.Type.Bytes) + 1 + len(m.Name.Bytes)
	f.textHead(name, size)
	f.body = append(f.body, m.Type.Bytes...)
	f.body = append(f.body, '/')
	f.body = append(f.body, m.Name.Bytes...)
}

// failure puts into words why a call failed.
func failure(f *Finding) string {
	s := "no status"
	if status := f.Get("status"); status.Kind == Int {
		s = "status " + status.String()
	}
	if category := f.Get("error_category"); category.Text != "" {
		s += ", " + category.Text
	} else if response := f.Get("response_status"); response.Text != "" {
		s += ", response " + response.Text
	}
	return s
}
