package infrapool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/tokens"
)

// BootstrapRolloutAnnotation with the value "true", on the infrastructure object or its MachinePool, has machines replaced when the
// content of the bootstrap data changes; tokens are no content. Without it they are replaced when the pool is given another
// bootstrap configuration, by name, and for nothing else in it.
const BootstrapRolloutAnnotation = "muster.dev/rollout-on-bootstrap-change"

const (
	// keyConfigurations is the key under which a pool remembers its bootstrap configurations.
	keyConfigurations = "bootstrap"
	// configurationsMost bounds how many of them it remembers: whoever goes back to one of them finds the machines fresh that are
	// left of it.
	configurationsMost = 8
	// markLength is enough to tell configurations apart, in hex digits.
	markLength = 12
	// noContent stands where nobody asked for a content to be told apart, and the mark that is none.
	noContent = "-"
)

// configuration is a bootstrap configuration that the pool has or had: the secret of its data, the content where that counts, and
// the mark by which its templates are told from others. The first one that is ever seen has none, so that nothing is replaced
// because Muster, or the annotation, is new.
type configuration struct{ secret, content, mark string }

// configuration is the mark of the bootstrap configuration that machines are to have, and what has to be remembered for it. While
// there is no data, it is the one that they had: nothing can be replaced then.
func (s *scope[O]) configuration(remembered map[string]string) (mark string, keep map[string]string) {
	list := parseConfigurations(remembered[keyConfigurations])
	if s.booted {
		content := ""
		if s.settings.bootstrapRolls {
			content = tokens.Content(s.bootstrap.Data())
		}
		list = follow(list, s.secret, content)
	}
	if len(list) == 0 {
		return "", nil
	}
	return list[len(list)-1].mark, map[string]string{keyConfigurations: formatConfigurations(list)}
}

// follow puts the configuration of a secret, with the content where that counts, to those that are known, as the last of them.
func follow(list []configuration, secret, content string) []configuration {
	now := configuration{secret: secret, content: content}
	last, known := latest(list, func(c configuration) bool { return c.secret == secret })
	same, exactly := latest(list, func(c configuration) bool { return c.secret == secret && c.content == content })
	switch {
	case exactly:
		now = same
	case known && (content == "" || last.content == ""):
		// Contents begin to count, or count no more: what machines have is what they should have.
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
	return list[max(0, len(list)-configurationsMost):]
}

// latest is the last of those for which something holds.
func latest(list []configuration, holds func(configuration) bool) (configuration, bool) {
	for _, c := range slices.Backward(list) {
		if holds(c) {
			return c, true
		}
	}
	return configuration{}, false
}

// parseConfigurations reads what formatConfigurations wrote. What nobody can read is nothing.
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
