// Package approval reads and records the approvals of gates, which users write as an annotation of a pool. It is pure.
package approval

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const (
	// Annotation lists approvals, separated by commas: <gate>@<ID of the rollout>.
	Annotation = "muster.dev/approve"
	// ByAnnotation is the user that wrote each approval, as a JSON object. The manager's webhook writes it (Record); what users write into it
	// is replaced. Where the webhook does not run, it is a claim.
	ByAnnotation = "muster.dev/approved-by"
)

const (
	// maxApprovals bounds the approvals of one pool that count, maxEntries the entries that are read.
	maxApprovals, maxEntries = 64, 256
	// maxUser bounds the name of a user, in characters.
	maxUser = 253
)

// Approval is the approval of a gate for one rollout. It counts for no other rollout.
type Approval struct {
	Gate, Rollout string
	// By is the user that the API server authenticated when the approval was written; empty if it was not recorded.
	By string
}

// String returns the approval as the annotation has it.
func (a Approval) String() string { return a.Gate + "@" + a.Rollout }

// form is that of an approval: the name of a gate and the ID of a rollout.
var form = regexp.MustCompile(`^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)@([A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$`)

// Parse returns the approvals that the annotations of an object hold, in their order, and those entries that are none. Entries beyond a
// limit are none.
func Parse(annotations map[string]string) (all []Approval, invalid []string) {
	by := users(annotations)
	for _, text := range entries(annotations) {
		match := form.FindStringSubmatch(text)
		if match == nil || len(all) >= maxApprovals {
			invalid = append(invalid, text)
			continue
		}
		all = append(all, Approval{Gate: match[1], Rollout: match[2], By: by[text]})
	}
	return all, invalid
}

// Of returns the approval of a gate for a rollout, from the first object that has one.
func Of(gate, rollout string, objects ...map[string]string) (Approval, bool) {
	for _, annotations := range objects {
		all, _ := Parse(annotations)
		at := slices.IndexFunc(all, func(a Approval) bool { return a.Gate == gate && a.Rollout == rollout })
		if at >= 0 {
			return all[at], true
		}
	}
	return Approval{}, false
}

// With returns the value of Annotation with one more approval. Approvals of other rollouts are dropped: they count no more.
func With(annotations map[string]string, more Approval) string {
	kept := []string{}
	all, _ := Parse(annotations)
	for _, a := range all {
		if a.Rollout == more.Rollout && a.Gate != more.Gate {
			kept = append(kept, a.String())
		}
	}
	return strings.Join(append(kept, more.String()), ",")
}

// Record returns the value that ByAnnotation must have after a user has written an object; empty if it must be absent. Approvals that the
// object had before keep their user. What the written object has in ByAnnotation does not count.
func Record(before, written map[string]string, user string) string {
	old, recorded := entries(before), users(before)
	by := map[string]string{}
	for _, text := range entries(written) {
		switch {
		case len(by) >= maxApprovals || !form.MatchString(text):
		case !slices.Contains(old, text):
			by[text] = bounded(user)
		case recorded[text] != "":
			by[text] = recorded[text]
		}
	}
	if len(by) == 0 {
		return ""
	}
	text, err := json.Marshal(by)
	if err != nil {
		return ""
	}
	return string(text)
}

// entries returns the entries of the annotation, each once.
func entries(annotations map[string]string) []string {
	var all []string
	for text := range strings.SplitSeq(annotations[Annotation], ",") {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
		if len(all) >= maxEntries {
			break
		}
	}
	return all
}

// users returns the recorded users by the entries that they wrote; none if the annotation has another form.
func users(annotations map[string]string) map[string]string {
	by := map[string]string{}
	if err := json.Unmarshal([]byte(annotations[ByAnnotation]), &by); err != nil {
		return nil
	}
	for text, user := range by {
		by[text] = bounded(user)
	}
	return by
}

// bounded returns the name of a user on one line and bounded.
func bounded(user string) string {
	user = strings.Join(strings.Fields(user), " ")
	if all := []rune(user); len(all) > maxUser {
		user = string(all[:maxUser])
	}
	return user
}
