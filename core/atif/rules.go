package atif

import (
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/value"
)

// Problems holds a parsed document against a profile and lists everything that is wrong, in the order of the document;
// rules over several fields come behind those about single ones (spec atif §2, §3).
func Problems(v value.Value, p Profile) []Problem {
	j := judge{profile: p}
	if !v.IsObject() {
		return []Problem{{"", "the document is " + named(v) + ", not an object"}}
	}
	j.document("", v)
	return j.list
}

func (j *judge) document(path string, v value.Value) {
	j.object(path, rootTable, v)
	version, ok := v.Get("schema_version").Text()
	switch {
	case j.profile == Gym && version != GymVersion:
		j.bad(path+".schema_version", "is not "+GymVersion)
	case j.profile == Harbor && ok && !slices.Contains(HarborVersions, version):
		j.bad(path+".schema_version", "is not a version from "+HarborVersions[0]+" to "+HarborVersions[len(HarborVersions)-1])
	}
	steps := v.Get("steps").Items()
	if v.Get("steps").Exists() && len(steps) == 0 {
		j.bad(path+".steps", "is empty")
	}
	for i, step := range steps {
		if step.IsObject() {
			j.step(path+".steps["+strconv.Itoa(i)+"]", i, step)
		}
	}
	if total := v.Get("final_metrics").Get("total_steps"); j.profile == Gym && !total.IsNull() {
		if n, ok := total.Whole(); ok && n.Cmp(integer.Of(int64(len(steps)))) != 0 {
			j.bad(path+".final_metrics.total_steps", "is "+n.String()+", there are "+strconv.Itoa(len(steps))+" steps")
		}
	}
	if j.profile == Harbor {
		j.subagents(path, v)
	}
}

// agentOnly are the fields that only a step of an agent may have.
var agentOnly = [...]string{"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}

func (j *judge) step(path string, i int, step value.Value) {
	if id := step.Get("step_id"); !id.IsNull() {
		if n, ok := j.whole(id); ok && n.Cmp(integer.Of(int64(i)+1)) != 0 {
			j.bad(path+".step_id", "is "+n.String()+", expected "+strconv.Itoa(i+1))
		}
	}
	if stamp, ok := step.Get("timestamp").Text(); ok {
		if _, ok := ParseStamp(stamp); !ok {
			j.bad(path+".timestamp", "is no time stamp")
		}
	}
	agent := step.Get("source").Is("agent")
	if !agent {
		for _, name := range agentOnly {
			if !step.Get(name).IsNull() {
				j.bad(path+"."+name, "belongs to steps of the agent alone")
			}
		}
	}
	if n, ok := j.whole(step.Get("llm_call_count")); ok && n.Sign() == 0 {
		forbidden := []string{"reasoning_effort", "reasoning_content", "metrics"}
		if j.profile == Harbor {
			forbidden = nil
			if agent {
				forbidden = []string{"reasoning_content", "metrics"}
			}
		}
		for _, name := range forbidden {
			if !step.Get(name).IsNull() {
				j.bad(path+"."+name, "cannot be there without a model call")
			}
		}
	}
	known := map[string]bool{}
	for _, call := range step.Get("tool_calls").Items() {
		if id, ok := call.Get("tool_call_id").Text(); ok {
			known[id] = true
		}
	}
	for k, result := range step.Get("observation").Get("results").Items() {
		where := path + ".observation.results[" + strconv.Itoa(k) + "]"
		if id, ok := result.Get("source_call_id").Text(); ok && !known[id] {
			j.bad(where+".source_call_id", "names "+strconv.Quote(id)+", which is no tool call of the step")
		}
		if j.profile != Harbor {
			continue
		}
		for n, ref := range result.Get("subagent_trajectory_ref").Items() {
			at := where + ".subagent_trajectory_ref[" + strconv.Itoa(n) + "]"
			if !ref.IsObject() {
				continue
			}
			j.object(at, refTable, ref)
			if ref.Get("trajectory_id").IsNull() && ref.Get("trajectory_path").IsNull() {
				j.bad(at, "has neither trajectory_id nor trajectory_path")
			}
		}
	}
}

// subagents holds the trajectories of subagents against all rules, and their ids against each other.
func (j *judge) subagents(path string, v value.Value) {
	seen := map[string]bool{}
	for i, sub := range v.Get("subagent_trajectories").Items() {
		if !sub.IsObject() {
			continue
		}
		where := path + ".subagent_trajectories[" + strconv.Itoa(i) + "]"
		id, ok := sub.Get("trajectory_id").Text()
		switch {
		case !ok:
			j.bad(where+".trajectory_id", "is missing")
		case seen[id]:
			j.bad(where+".trajectory_id", "is that of another subagent")
		}
		seen[id] = true
		j.document(where, sub)
	}
}
