package agentpool

import (
	"strings"

	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
)

// recordTags adds the tag that tells which tags the specification names, and marks for removal those that it named once and names no more.
// Tags that other clients have set stay.
func (w *desired) recordTags(is *agentPool) {
	tags, _ := w.properties[body.Tags].(map[string]any)
	if tags == nil {
		return
	}
	names := map[string]string{}
	for name := range tags {
		if !strings.HasPrefix(strings.ToLower(name), model.OwnTag("")) {
			names[name] = ""
		}
	}
	tags[model.TagNames] = model.NamesOf(names)
	if is == nil {
		return
	}
	has, _ := is.properties[body.Tags].(map[string]any)
	for _, name := range model.Retired(has, is.tag(model.TagNames), tags) {
		tags[name] = nil // in a merge patch
	}
}

// takeOverTags adds the tag that tells which tags the specification names to the tags that are written, if the agent pool has all of them
// already: nothing else would write it.
func (w desired) takeOverTags(is *agentPool, written map[string]any) {
	wanted, _ := w.properties[body.Tags].(map[string]any)
	for name, value := range wanted {
		text, _ := value.(string)
		if _, own := written[name]; !own && name != model.TagNames && is.tag(name) != text {
			return
		}
	}
	if names, ok := wanted[model.TagNames].(string); ok && names != "" {
		written[model.TagNames] = names
	}
}
