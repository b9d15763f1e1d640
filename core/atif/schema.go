package atif

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// A Profile is a set of rules that a document is held against.
type Profile uint8

const (
	Gym    Profile = iota // the strict form of NeMo Gym, version 1.7 alone
	Harbor                // the lax one of the framework, versions 1.0 to 1.8
)

// String names the profile.
func (p Profile) String() string { return [...]string{"NeMo Gym", "Harbor"}[p] }

// A Problem is a place where a document breaks a rule. Path names it from the root, like steps[2].metrics.
type Problem struct{ Path, Reason string }

// GymVersion is the version that NeMo Gym writes and reads.
const GymVersion = "ATIF-v1.7"

// HarborVersions are the versions of the framework, the newest last.
var HarborVersions = []string{"ATIF-v1.0", "ATIF-v1.1", "ATIF-v1.2", "ATIF-v1.3", "ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"}

// kind is what the value of a field must be.
type kind uint8

const (
	kindText    kind = iota
	kindWhole        // an int from the least on
	kindCount        // an int; below zero where a profile lets it
	kindAmount       // a number; as kindCount
	kindFlag         // a bool
	kindWord         // one of some texts
	kindEffort       // a text or a number
	kindOpen         // any object
	kindContent      // a text or a list of parts
	kindObject       // an object with a table
	kindList         // a list of objects with a table
	kindOpens        // a list of any objects
	kindCounts       // a list of ints
	kindReals        // a list of numbers
)

// A field is one key of an object.
type field struct {
	name     string
	kind     kind
	required bool
	least    int64
	words    []string
	table    *table
}

// A table lists the fields of an object in the order in which they are written.
type table struct {
	name   string
	fields []field
}

func must(f field) field { f.required = true; return f }

var rootTable = &table{"document", []field{
	{name: "schema_version", kind: kindText},
	{name: "session_id", kind: kindText},
	{name: "trajectory_id", kind: kindText},
	must(field{name: "agent", kind: kindObject, table: agentTable}),
	must(field{name: "steps", kind: kindList, table: stepTable}),
	{name: "notes", kind: kindText},
	{name: "final_metrics", kind: kindObject, table: finalTable},
	{name: "continued_trajectory_ref", kind: kindText},
	{name: "subagent_trajectories", kind: kindOpens},
	{name: "extra", kind: kindOpen},
}}

var agentTable = &table{"agent", []field{
	must(field{name: "name", kind: kindText}),
	must(field{name: "version", kind: kindText}),
	{name: "model_name", kind: kindText},
	{name: "tool_definitions", kind: kindOpens},
	{name: "extra", kind: kindOpen},
}}

var stepTable = &table{"step", []field{
	must(field{name: "step_id", kind: kindWhole, least: 1}),
	must(field{name: "source", kind: kindWord, words: []string{"system", "user", "agent"}}),
	must(field{name: "message", kind: kindContent}),
	{name: "timestamp", kind: kindText},
	{name: "model_name", kind: kindText},
	{name: "reasoning_effort", kind: kindEffort},
	{name: "reasoning_content", kind: kindText},
	{name: "tool_calls", kind: kindList, table: toolCallTable},
	{name: "observation", kind: kindObject, table: observationTable},
	{name: "metrics", kind: kindObject, table: metricsTable},
	{name: "llm_call_count", kind: kindWhole},
	{name: "is_copied_context", kind: kindFlag},
	{name: "extra", kind: kindOpen},
}}

var toolCallTable = &table{"tool call", []field{
	must(field{name: "tool_call_id", kind: kindText}),
	must(field{name: "function_name", kind: kindText}),
	must(field{name: "arguments", kind: kindOpen}),
	{name: "extra", kind: kindOpen},
}}

var observationTable = &table{"observation", []field{
	must(field{name: "results", kind: kindList, table: resultTable}),
}}

var resultTable = &table{"result", []field{
	{name: "source_call_id", kind: kindText},
	{name: "content", kind: kindContent},
	{name: "subagent_trajectory_ref", kind: kindOpens},
	{name: "extra", kind: kindOpen},
}}

var metricsTable = &table{"metrics", []field{
	{name: "prompt_tokens", kind: kindCount},
	{name: "completion_tokens", kind: kindCount},
	{name: "cached_tokens", kind: kindCount},
	{name: "cost_usd", kind: kindAmount},
	{name: "prompt_token_ids", kind: kindCounts},
	{name: "completion_token_ids", kind: kindCounts},
	{name: "logprobs", kind: kindReals},
	{name: "extra", kind: kindOpen},
}}

var finalTable = &table{"final metrics", []field{
	{name: "total_prompt_tokens", kind: kindCount},
	{name: "total_completion_tokens", kind: kindCount},
	{name: "total_cached_tokens", kind: kindCount},
	{name: "total_cost_usd", kind: kindAmount},
	{name: "total_steps", kind: kindWhole},
	{name: "extra", kind: kindOpen},
}}

var refTable = &table{"subagent reference", []field{
	{name: "trajectory_id", kind: kindText},
	{name: "session_id", kind: kindText},
	{name: "trajectory_path", kind: kindText},
	{name: "extra", kind: kindOpen},
}}

// A judge holds a document against a profile and lists all its problems.
type judge struct {
	profile Profile
	list    []Problem
}

func (j *judge) bad(path, reason string) {
	j.list = append(j.list, Problem{strings.TrimPrefix(path, "."), reason})
}

// object holds an object against its table.
func (j *judge) object(path string, t *table, v value.Value) {
	if !v.IsObject() {
		j.bad(path, t.name+" is "+named(v)+", not an object")
		return
	}
	for i := range t.fields {
		f := &t.fields[i]
		found := v.Get(f.name)
		where := path + "." + f.name
		if found.IsNull() {
			if f.required {
				j.bad(where, "is missing")
			}
			continue
		}
		j.value(where, f, found)
	}
	for _, m := range v.Members() {
		if !slices.ContainsFunc(t.fields, func(f field) bool { return f.name == m.Key }) {
			j.bad(path+"."+m.Key, "unknown key of the "+t.name)
		}
	}
}

// named is the kind of a value with an article.
func named(v value.Value) string {
	switch k := v.Kind(); k {
	case jsonscan.Absent, jsonscan.Null:
		return "null"
	case jsonscan.Int, jsonscan.Array, jsonscan.Object:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

// value holds a value against a field.
func (j *judge) value(path string, f *field, v value.Value) {
	switch f.kind {
	case kindText:
		if _, ok := v.Text(); !ok {
			j.bad(path, "is "+named(v)+", not a string")
		}
	case kindWhole, kindCount:
		n, ok := j.whole(v)
		switch {
		case !ok:
			j.bad(path, "is "+named(v)+", not a whole number")
		case f.kind == kindCount && j.profile == Harbor:
		case n.Cmp(integer.Of(f.least)) < 0:
			j.bad(path, "is below "+strconv.FormatInt(f.least, 10))
		}
	case kindAmount:
		x, ok := j.real(v)
		switch {
		case !ok:
			j.bad(path, "is "+named(v)+", not a number")
		case j.profile == Gym && !(x >= 0):
			j.bad(path, "is below 0")
		}
	case kindFlag:
		if !j.flag(v) {
			j.bad(path, "is "+named(v)+", not a bool")
		}
	case kindWord:
		if s, ok := v.Text(); !ok || !slices.Contains(f.words, s) {
			j.bad(path, "is not one of "+strings.Join(f.words, ", "))
		}
	case kindEffort:
		if _, ok := v.Text(); !ok {
			if _, ok := j.real(v); !ok {
				j.bad(path, "is "+named(v)+", neither a string nor a number")
			}
		}
	case kindOpen:
		if !v.IsObject() {
			j.bad(path, "is "+named(v)+", not an object")
		}
	case kindContent:
		j.content(path, v)
	case kindObject:
		j.object(path, f.table, v)
	case kindList:
		j.each(path, v, func(path string, item value.Value) { j.object(path, f.table, item) })
	case kindOpens:
		j.each(path, v, func(path string, item value.Value) {
			if !item.IsObject() {
				j.bad(path, "is "+named(item)+", not an object")
			}
		})
	case kindCounts:
		j.each(path, v, func(path string, item value.Value) {
			if n, ok := j.whole(item); !ok || j.profile == Gym && n.Sign() < 0 {
				j.bad(path, "is no token id")
			}
		})
	case kindReals:
		j.each(path, v, func(path string, item value.Value) {
			x, ok := j.real(item)
			if !ok || j.profile == Gym && (math.IsNaN(x) || math.IsInf(x, 0)) {
				j.bad(path, "is no log probability")
			}
		})
	}
}

func (j *judge) each(path string, v value.Value, f func(string, value.Value)) {
	if v.Kind() != jsonscan.Array {
		j.bad(path, "is "+named(v)+", not an array")
		return
	}
	for i, item := range v.Items() {
		f(path+"["+strconv.Itoa(i)+"]", item)
	}
}

// whole reads a whole number: an int, and for Harbor what can be taken for one.
func (j *judge) whole(v value.Value) (integer.Int, bool) {
	if n, ok := v.Whole(); ok || j.profile == Gym {
		return n, ok
	}
	return lax.Int(scanned(v))
}

// real reads a number: an int or a float, and for Harbor what can be taken for one.
func (j *judge) real(v value.Value) (float64, bool) {
	if f, ok := v.Number(); ok || j.profile == Gym {
		return f, ok
	}
	return lax.Float(scanned(v))
}

func (j *judge) flag(v value.Value) bool {
	if _, ok := v.Truth(); ok || j.profile == Gym {
		return ok
	}
	_, ok := lax.Bool(scanned(v))
	return ok
}

// scanned makes a span of a scalar, for the lax rules.
func scanned(v value.Value) jsonscan.Value {
	switch v.Kind() {
	case jsonscan.Bool, jsonscan.Int, jsonscan.Float, jsonscan.String:
		s := new(jsonscan.Scanner)
		span, _ := s.Scan(v.Append(nil, value.Row))
		return span
	}
	return jsonscan.Value{}
}

// content holds a message or the content of a result against the forms it may have.
func (j *judge) content(path string, v value.Value) {
	if _, ok := v.Text(); ok {
		return
	}
	if v.Kind() != jsonscan.Array {
		j.bad(path, "is "+named(v)+", neither a string nor a list of parts")
		return
	}
	j.each(path, v, j.part)
}

var partKeys = []string{"type", "text", "source"}

// part holds a part of a content against the rules of its type.
func (j *judge) part(path string, v value.Value) {
	if !v.IsObject() {
		j.bad(path, "part is "+named(v)+", not an object")
		return
	}
	for _, m := range v.Members() {
		if !slices.Contains(partKeys, m.Key) {
			j.bad(path+"."+m.Key, "unknown key of the part")
		}
	}
	text, source := v.Get("text"), v.Get("source")
	tag, _ := v.Get("type").Text()
	switch {
	case tag == "text":
		if _, ok := text.Text(); !ok {
			j.bad(path+".text", "is "+named(text)+", not a string")
		}
		if !source.IsNull() {
			j.bad(path+".source", "does not belong into a text part")
		}
	case tag == "image", tag == "audio" && j.profile == Harbor:
		if !text.IsNull() {
			j.bad(path+".text", "does not belong into a part of this type")
		}
		j.source(path+".source", tag, source)
	default:
		j.bad(path+".type", "is not the type of a part")
	}
}

// The media types that parts may have; for sounds in their canonical form.
var (
	imageTypes   = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	audioTypes   = []string{"audio/wav", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/flac", "audio/webm", "audio/aiff"}
	audioAliases = map[string]string{
		"audio/mp3": "audio/mpeg", "audio/mpga": "audio/mpeg", "audio/x-mpeg": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav",
		"audio/vnd.wave": "audio/wav", "audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4", "audio/x-aac": "audio/aac", "audio/x-flac": "audio/flac",
		"audio/x-aiff": "audio/aiff",
	}
)

func (j *judge) source(path, tag string, v value.Value) {
	if !v.IsObject() {
		j.bad(path, "is "+named(v)+", not an object")
		return
	}
	keys := []string{"media_type", "path"}
	media, _ := v.Get("media_type").Text()
	allowed := imageTypes
	if tag == "audio" {
		keys = append(keys, "duration_sec")
		media = strings.ToLower(media)
		if alias, ok := audioAliases[media]; ok {
			media = alias
		}
		allowed = audioTypes
		if d := v.Get("duration_sec"); !d.IsNull() {
			if x, ok := j.real(d); !ok || !(x >= 0) {
				j.bad(path+".duration_sec", "is no duration")
			}
		}
	}
	if !slices.Contains(allowed, media) {
		j.bad(path+".media_type", "is not one of "+strings.Join(allowed, ", "))
	}
	if _, ok := v.Get("path").Text(); !ok {
		j.bad(path+".path", "is "+named(v.Get("path"))+", not a string")
	}
	for _, m := range v.Members() {
		if !slices.Contains(keys, m.Key) {
			j.bad(path+"."+m.Key, "unknown key of the source")
		}
	}
}
