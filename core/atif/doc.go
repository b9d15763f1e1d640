// Package atif reads, judges, writes and imports ATIF documents, the agent trajectory interchange format of the Harbor
// framework (spec atif).
//
// Its nouns: a *document* is one trajectory, a list of *steps* by a system, a user or an agent. A *profile* is a set of
// rules that a reader holds a document against: [Gym] is the strict form that NeMo Gym writes, [Harbor] the lax one of
// the framework, and a document of the strict form may be *importable*: turned back into a response that a verifier can
// judge. A *manifest* lists exported files with the rollouts they come from and their digests.
//
//	document, err := atif.Strict(text)
//	for _, p := range atif.Problems(document, atif.Harbor) { … }
//
// [Export] makes documents of rollout rows; nothing is published unless every row of a file can be. [View]
// gives a document for display, whatever its version, as far as it is known.
package atif
