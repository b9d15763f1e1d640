package trajectory

// The tables of this file are what items consist of: the parts of a content, annotations, tools (spec health
// appendix A).

// inputParts are written as they came: without defaults, and without what is not known.
var inputParts = union{name: "input part", tables: []*table{
	sparse("input_text", must("text", text), typed),
	sparse("input_image",
		must("detail", word("low", "high", "auto", "original")),
		typed,
		may("file_id", text),
		may("image_url", text),
	),
	sparse("input_file",
		typed,
		opt("detail", word("low", "high")),
		opt("file_data", text),
		may("file_id", text),
		opt("file_url", text),
		opt("filename", text),
	),
	video,
}}

var video = table{extra: dropped, sparse: true, rule: ruleVideo}.tagged("input_video", []field{
	typed,
	opt("video_url", shape{kind: kindVideo}),
	opt("video", shape{kind: kindVideo}),
})

const (
	_ = iota
	videoURL
	videoVideo
)

// resultParts are the parts of a function's output.
var resultParts = union{name: "output part", tables: []*table{
	sparse("input_text", must("text", text), typed),
	sparse("input_image",
		typed,
		may("detail", word("low", "high", "auto", "original")),
		may("file_id", text),
		may("image_url", text),
	),
	sparse("input_file",
		typed,
		opt("detail", word("low", "high")),
		may("file_data", text),
		may("file_id", text),
		may("file_url", text),
		may("filename", text),
	),
}}

// hostedParts are the parts of a custom tool's output.
var hostedParts = union{name: "output part", tables: []*table{
	variant("input_text", must("text", text), typed),
	variant("input_image",
		must("detail", word("low", "high", "auto", "original")),
		typed,
		may("file_id", text),
		may("image_url", text),
	),
	variant("input_file",
		typed,
		may("detail", word("low", "high")),
		may("file_data", text),
		may("file_id", text),
		may("file_url", text),
		may("filename", text),
	),
}}

// outputParts are the parts of a model's message. One without a type is the first it can be.
var outputParts = union{name: "message part", bare: true, tables: []*table{
	bare("output_text",
		must("annotations", list(tagged(&annotations))),
		must("text", text),
		typed,
		may("logprobs", list(object(logprob))),
	),
	bare("refusal", must("refusal", text), typed),
}}

var annotations = union{name: "annotation", tables: []*table{
	lean("file_citation", must("file_id", text), must("filename", text), must("index", whole), typed),
	lean("url_citation",
		must("end_index", whole), must("start_index", whole), must("title", text), typed, must("url", text)),
	lean("container_file_citation",
		must("container_id", text), must("end_index", whole), must("file_id", text), must("filename", text),
		must("start_index", whole), typed),
	lean("file_path", must("file_id", text), must("index", whole), typed),
}}

var logprob = &table{name: "log probability", extra: dropped, fields: []field{
	must("token", text),
	must("bytes", shape{kind: kindSeries}),
	must("logprob", number),
	must("top_logprobs", shape{kind: kindSeries}),
}}

// tools are the tools a model was given. Nested objects are not looked into.
var tools = union{name: "tool", tables: []*table{
	variant("function",
		must("name", text),
		typed,
		may("parameters", open),
		may("strict", flag),
		may("defer_loading", flag),
		may("description", text),
	),
	variant("custom",
		must("name", text),
		typed,
		may("defer_loading", flag),
		may("description", text),
		may("format", open),
	),
	variant("namespace",
		must("description", text),
		must("name", text),
		must("tools", list(object(plain("tool of a namespace",
			must("name", text),
			must("type", word("function", "custom")),
		)))),
		typed,
	),
	variant("file_search",
		typed,
		must("vector_store_ids", list(text)),
		may("filters", open),
		may("max_num_results", whole),
		may("ranking_options", open),
	),
	variant("mcp",
		must("server_label", text),
		typed,
		may("allowed_tools", either(list(text), open)),
		may("authorization", text),
		may("connector_id", text),
		may("defer_loading", flag),
		may("headers", mapOf(text)),
		may("require_approval", either(word("always", "never"), open)),
		may("server_description", text),
		may("server_url", text),
		may("tunnel_id", text),
	),
	variant("code_interpreter", must("container", either(text, object(variant("auto", typed)))), typed),
	variant("computer_use_preview",
		must("display_height", whole),
		must("display_width", whole),
		must("environment", word("windows", "mac", "linux", "ubuntu", "browser")),
		typed,
	),
	webSearch("web_search"),
	webSearch("web_search_2025_08_26"),
	webSearchPreview("web_search_preview"),
	webSearchPreview("web_search_preview_2025_03_11"),
	variant("image_generation",
		typed,
		may("action", kept),
		may("background", kept),
		may("input_fidelity", kept),
		may("input_image_mask", kept),
		may("model", kept),
		may("moderation", kept),
		may("output_compression", kept),
		may("output_format", kept),
		may("partial_images", kept),
		may("quality", kept),
		may("size", kept),
	),
	variant("tool_search",
		typed,
		may("description", text),
		may("execution", word("server", "client")),
		may("parameters", kept),
	),
	variant("shell", typed, may("environment", open)),
	variant("computer", typed),
	variant("local_shell", typed),
	variant("apply_patch", typed),
}}

func webSearch(tag string) *table {
	return variant(tag,
		typed,
		may("filters", open),
		may("search_context_size", word("low", "medium", "high")),
		may("user_location", open),
	)
}

func webSearchPreview(tag string) *table {
	return variant(tag,
		typed,
		may("search_content_types", list(kept)),
		may("search_context_size", word("low", "medium", "high")),
		may("user_location", open),
	)
}

// sparse and lean make tables of parts that drop what they do not know; a sparse one is written without
// defaults. bare is lean with a type that may be missing.
func sparse(tag string, fields ...field) *table {
	return table{extra: dropped, sparse: true}.tagged(tag, fields)
}

func lean(tag string, fields ...field) *table {
	return table{extra: dropped}.tagged(tag, fields)
}

func bare(tag string, fields ...field) *table {
	return table{extra: dropped, bare: true}.tagged(tag, fields)
}
