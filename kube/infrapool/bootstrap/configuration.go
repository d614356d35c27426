package bootstrap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/tokens"
)

const (
	// maxConfigurations bounds how many configurations are stored. A pool that returns to one of them keeps the machines that are left of it.
	maxConfigurations = 8
	// markLength is enough to tell configurations apart, in hex digits.
	markLength = 12
	// noContent stands for content that is not compared, and for the empty mark.
	noContent = "-"
)

// configuration is a bootstrap configuration that the pool has or had: the secret of its data, the content if that is compared, and the
// mark that distinguishes its templates from others. The first one that is ever seen has no mark, so that nothing is replaced because
// Muster, or the annotation, is new.
type configuration struct{ secret, content, mark string }

// Configuration returns the mark of the configuration that machines are to have, and the values to store for it. While there is no data, it
// is the previous one: nothing can be replaced then. With byContent the content of the data is part of the configuration.
func Configuration(d Data, byContent bool, values map[string]string) (mark string, keep map[string]string) {
	list := parseConfigurations(values[stored.Configurations])
	if d.Known {
		content := ""
		if byContent {
			content = tokens.Content(d.Bootstrap.Data())
		}
		list = follow(list, d.Secret, content)
	}
	if len(list) == 0 {
		return "", nil
	}
	return list[len(list)-1].mark, map[string]string{stored.Configurations: formatConfigurations(list)}
}

// follow makes the configuration of a secret, with the content if that is compared, the last one of the list.
func follow(list []configuration, secret, content string) []configuration {
	now := configuration{secret: secret, content: content}
	last, known := latest(list, func(c configuration) bool { return c.secret == secret })
	same, exactly := latest(list, func(c configuration) bool { return c.secret == secret && c.content == content })
	switch {
	case exactly:
		now = same
	case known && (content == "" || last.content == ""):
		// The comparison of contents begins or ends: what machines have is taken for what they should have.
		now.mark = last.mark
	case known:
		now.mark = cloud.Digest([]byte(secret+"\n"+content+"\n"+last.mark), markLength)
	case len(list) > 0:
		now.mark = cloud.Digest([]byte(secret), markLength)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(c configuration) bool {
		return c.secret == secret && (content == "" || c.content == "" || c.content == content)
	})
	list = append(list, now)
	return list[max(0, len(list)-maxConfigurations):]
}

// latest returns the last configuration for which holds is true.
func latest(list []configuration, holds func(configuration) bool) (configuration, bool) {
	for _, c := range slices.Backward(list) {
		if holds(c) {
			return c, true
		}
	}
	return configuration{}, false
}

// parseConfigurations parses what formatConfigurations wrote. It skips what it cannot parse.
func parseConfigurations(text string) []configuration {
	var list []configuration
	for line := range strings.SplitSeq(text, ",") {
		if parts := strings.Split(line, "="); len(parts) == 3 {
			list = append(list, configuration{parts[0], strings.TrimPrefix(parts[1], noContent), strings.TrimPrefix(parts[2], noContent)})
		}
	}
	return list
}

func formatConfigurations(list []configuration) string {
	lines := make([]string, 0, len(list))
	for _, c := range list {
		lines = append(lines, c.secret+"="+cmp.Or(c.content, noContent)+"="+cmp.Or(c.mark, noContent))
	}
	return strings.Join(lines, ",")
}
