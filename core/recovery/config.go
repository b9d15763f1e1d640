package recovery

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

type count = integer.Int

// A Config is a resolved configuration that the user gives, with what the expected rows name of it (spec recovery
// §4.2).
type Config struct {
	Collection value.Value // settings of the collection
	Global     value.Value // the merged configuration, references unresolved

	agents, unstamped, stamps, sources map[string]bool
}

// ReadConfig reads a document with the objects config and global; ok is false if it is none.
func ReadConfig(text []byte) (c *Config, ok bool) {
	v, err := value.Parse(text, value.Leniency{})
	if err != nil || !v.Get("config").IsObject() || !v.Get("global").IsObject() {
		return nil, false
	}
	return NewConfig(v.Get("config"), v.Get("global")), true
}

// NewConfig makes a configuration of its two parts.
func NewConfig(collection, global value.Value) *Config {
	return &Config{collection, global, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// With is the configuration for the rows of another run.
func (c *Config) With() *Config {
	if c == nil {
		return nil
	}
	return NewConfig(c.Collection, c.Global)
}

// Row takes note of what an expected row names.
func (c *Config) Row(row jsonscan.Value) {
	agent, server, source := row.Get("agent_ref").Get("name").Text(), row.Get("_ng_environment_server").Text(), row.Get("task_source").Text()
	if agent != "" {
		c.agents[agent] = true
		if server == "" {
			c.unstamped[agent] = true
		}
	}
	if server != "" {
		c.stamps[server] = true
	}
	if source != "" {
		c.sources[source] = true
	}
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(words) {
		m[word] = true
	}
	return m
}

var (
	// serverKinds are the members of a block that make it a server.
	serverKinds = set("responses_api_agents responses_api_models resources_servers environment_servers")
	// runtimeOptions say where something runs and with which credentials, never what.
	runtimeOptions = set(`host port api_key openai_api_key policy_api_key judge_api_key tavily_api_key anthropic_api_key model_api_key
		switchyard_api_key hf_token num_workers base_url openai_base_url policy_base_url judge_base_url sandbox_model_base_url model_base_url
		vllm_base_url switchyard_base_url head_server disallowed_ports port_range_low port_range_high model_call_capture_dir`)
	// collectionOptions say how rollouts are collected, never what they are.
	collectionOptions = set(`resume_from_cache checkpoint_dir checkpoint_every_s checkpoint_timeout_s dispatch_budget_s drain_margin_s
		dispatch_longest_first retry_terminal_timeouts retry_invalid_judge_responses allow_unsafe_resume output_jsonl_fpath input_jsonl_fpath
		num_samples_in_parallel max_resident_rollout_tasks retain_results_in_memory require_complete disable_aggregation disable_health_check
		health_check_workers health_check_ignored_checks upload_rollouts count_failure_classes_as_zero count_missing_rollouts_as_zero
		route_failures_to_sidecar`)
	headerMembers = set("headers default_headers openai_default_headers artifact_request_headers")
	credentials   = set("authorization proxy-authorization x-api-key api-key")
	serverRoles   = set("model_server resources_server agent_server environment_server")

	reference    = regexp.MustCompile(`\$\{([^{}]*)\}`)
	absolutePath = regexp.MustCompile(`^[^.:\[\]{}$\s,]+(\.[^.:\[\]{}$\s,]+)*$`)
)

// Digest is the digest of the configuration's identity. missing lists servers that are named and not there. ok is
// false if the identity depends on something outside the configuration.
func (c *Config) Digest() (digest string, missing []string, ok bool) {
	identity, missing, ok := c.Identity()
	if !ok || len(missing) > 0 {
		return "", missing, ok
	}
	return store.Digest(identity), nil, true
}

// Identity is what the digest is made of; see [Config.Digest].
func (c *Config) Identity() (identity value.Value, missing []string, ok bool) {
	global := normalise(c.Global)
	servers := map[string]bool{}
	for _, m := range global.Members() {
		for _, part := range m.Value.Members() {
			if serverKinds[part.Key] {
				servers[m.Key] = true
			}
		}
	}
	r := resolver{root: filter(global), sound: true, open: map[string]bool{}}
	absent := map[string]bool{}
	wanted := c.start(global, servers, absent)
	blocks := map[string]value.Value{}
	for len(wanted) > 0 {
		name := wanted[0]
		wanted = wanted[1:]
		if _, done := blocks[name]; done {
			continue
		}
		block := r.resolve(r.root.Get(name).OrNull())
		blocks[name] = block
		neighbours(block, false, func(name string, required bool) {
			switch {
			case servers[name]:
				wanted = append(wanted, name)
			case required:
				absent[name] = true
			}
		})
	}
	collection := value.Object()
	for _, m := range normalise(c.Collection).Members() {
		if !collectionOptions[m.Key] {
			collection = collection.With(m.Key, r.resolve(m.Value))
		}
	}
	capture := value.Object()
	if v := global.Get("token_id_capture"); v.IsObject() {
		capture = r.resolve(v.Without("dir"))
	}
	stored := []value.Member{}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		stored = append(stored, value.M(name, blocks[name]))
	}
	identity = value.Object(value.M("collection", collection), value.M("servers", value.Object(stored...)), value.M("token_id_capture", capture))
	return identity, slices.Sorted(maps.Keys(absent)), r.sound
}

// start lists the servers that the rows depend on.
func (c *Config) start(global value.Value, servers, absent map[string]bool) []string {
	from := map[string]bool{}
	for _, names := range []map[string]bool{c.agents, c.stamps} {
		for name := range names {
			if !servers[name] {
				absent[name] = true
				continue
			}
			from[name] = true
		}
	}
	for _, m := range global.Members() {
		for _, implementation := range m.Value.Get("environment_servers").Members() {
			if agent, ok := implementation.Value.Get("agent_server").Get("name").Text(); ok && c.unstamped[agent] {
				from[m.Key] = true
			}
		}
	}
	for name := range c.sources {
		if servers[name] {
			from[name] = true
		}
	}
	if len(from) == 0 && len(absent) == 0 {
		from = servers
	}
	return slices.Sorted(maps.Keys(from))
}

// neighbours calls f for every name that an object inside v gives. required tells that it must be a server.
func neighbours(v value.Value, role bool, f func(name string, required bool)) {
	if name, ok := v.Get("name").Text(); ok {
		kind, _ := v.Get("type").Text()
		f(name, role || serverKinds[kind])
	}
	for _, m := range v.Members() {
		neighbours(m.Value, serverRoles[m.Key], f)
	}
	for _, item := range v.Items() {
		neighbours(item, role, f)
	}
}

// normalise replaces references to what may differ between sessions by a mark.
func normalise(v value.Value) value.Value {
	return walk(v, func(text string) value.Value {
		return value.Text(reference.ReplaceAllStringFunc(text, func(whole string) string {
			name := whole[2 : len(whole)-1]
			parts := strings.Split(name, ".")
			if runtimeOptions[name] || len(parts) == 4 && serverKinds[parts[1]] && runtimeOptions[parts[3]] {
				return "<runtime:" + name + ">"
			}
			return whole
		}))
	})
}

// walk replaces every string of a value.
func walk(v value.Value, f func(string) value.Value) value.Value {
	switch v.Kind() {
	case jsonscan.String:
		text, _ := v.Text()
		return f(text)
	case jsonscan.Array:
		items := v.Items()
		for i := range items {
			items[i] = walk(items[i], f)
		}
		return value.List(items...)
	case jsonscan.Object:
		members := slices.Clone(v.Members())
		for i := range members {
			members[i].Value = walk(members[i].Value, f)
		}
		return value.Object(members...)
	}
	return v
}

// filter drops what no run depends on.
func filter(global value.Value) value.Value {
	members := []value.Member{}
	for _, m := range global.Members() {
		if runtimeOptions[m.Key] || collectionOptions[m.Key] {
			continue
		}
		for _, part := range m.Value.Members() {
			if serverKinds[part.Key] && part.Value.IsObject() {
				m.Value = m.Value.With(part.Key, implementations(part.Key, part.Value))
			}
		}
		members = append(members, m)
	}
	return value.Object(members...)
}

func implementations(kind string, v value.Value) value.Value {
	list := slices.Clone(v.Members())
	for i := range list {
		settings := list[i].Value
		if !settings.IsObject() {
			continue
		}
		kept := []value.Member{}
		for _, m := range settings.Members() {
			if runtimeOptions[m.Key] || kind == "responses_api_agents" && list[i].Key == "stirrup_agent" && m.Key == "rerun_incomplete" {
				continue
			}
			switch {
			case headerMembers[m.Key] && m.Value.IsObject():
				headers := []value.Member{}
				for _, h := range m.Value.Members() {
					if !credentials[strings.ToLower(h.Key)] {
						headers = append(headers, h)
					}
				}
				m.Value = value.Object(headers...)
			case m.Key == "token_id_capture" && m.Value.IsObject():
				m.Value = m.Value.Without("dir")
			}
			kept = append(kept, m)
		}
		list[i].Value = value.Object(kept...)
	}
	return value.Object(list...)
}

// A resolver replaces references by what they refer to. It is sound until it meets one that it cannot follow.
type resolver struct {
	root  value.Value
	open  map[string]bool // references that are being followed
	steps int
	sound bool
}

// mostSteps bounds what a configuration can unfold to.
const mostSteps = 1 << 16

func (r *resolver) resolve(v value.Value) value.Value { return walk(v, r.text) }

func (r *resolver) text(text string) value.Value {
	if !strings.Contains(text, "${") {
		return value.Text(text)
	}
	if whole := reference.FindStringSubmatch(text); whole != nil && whole[0] == text {
		return r.follow(whole[1])
	}
	replaced := reference.ReplaceAllStringFunc(text, func(whole string) string {
		inserted, ok := spelled(r.follow(whole[2 : len(whole)-1]))
		r.sound = r.sound && ok
		return inserted
	})
	// What is left belongs to a form that is not followed: nested, escaped or cut.
	if strings.Contains(reference.ReplaceAllString(text, ""), "${") || strings.Contains(text, `\$`) {
		r.sound = false
	}
	return value.Text(replaced)
}

// follow finds the value of an absolute path.
func (r *resolver) follow(path string) value.Value {
	r.steps++
	if !absolutePath.MatchString(path) || r.open[path] || r.steps > mostSteps {
		r.sound = false
		return value.Null
	}
	v := r.root
	for part := range strings.SplitSeq(path, ".") {
		v = v.Get(part)
	}
	if !v.Exists() {
		r.sound = false
		return value.Null
	}
	r.open[path] = true
	defer delete(r.open, path)
	return r.resolve(v)
}

// spelled writes a scalar as it stands inside a text.
func spelled(v value.Value) (text string, ok bool) {
	switch v.Kind() {
	case jsonscan.String:
		return v.Text()
	case jsonscan.Int:
		n, _ := v.Whole()
		return n.String(), true
	case jsonscan.Float:
		f, _ := v.Float()
		return string(jsontext.AppendRepr(nil, f)), true
	case jsonscan.Bool:
		b := strconv.FormatBool(v.Truthy())
		return strings.ToUpper(b[:1]) + b[1:], true
	case jsonscan.Null:
		return "None", true
	}
	return "", false
}
