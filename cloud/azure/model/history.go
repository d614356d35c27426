package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// historyMost former contents fit into the value of a tag.
	historyMost = 5
	// historyTime is the format of times in the history, as exact as those that Azure shows.
	historyTime = "2006-01-02T15:04:05.0000000Z"
	// unknown is the content of machines that are older than the history reaches. No model has it.
	unknown = seenAlgorithm + ":"
	// Instant is the smallest difference between two such times.
	Instant = 100 * time.Nanosecond
)

// history holds the former contents of a Uniform scale set's model, the oldest first.
type history []former

// former is a content of which machines were launched until a moment by Azure's clock.
type former struct {
	content string
	until   time.Time
}

// readHistory reads the value of TagHistory. A value that Muster did not write is none.
func readHistory(text string) history {
	var h history
	for _, entry := range strings.Fields(text) {
		content, at, _ := strings.Cut(entry, "@")
		until, err := time.Parse(historyTime, at)
		if err != nil {
			return nil
		}
		h = append(h, former{content, until})
	}
	return h
}

// String returns the value of TagHistory.
func (h history) String() string {
	var list []string
	for _, f := range h {
		list = append(list, f.content+"@"+f.until.UTC().Format(historyTime))
	}
	return strings.Join(list, " ")
}

// at returns the index of the former content that was launched from at a moment; the length of the history if it is the present content.
func (h history) at(created time.Time) int {
	k := slices.IndexFunc(h, func(f former) bool { return created.Before(f.until) })
	if k < 0 {
		return len(h)
	}
	return k
}

// needed returns the former contents that some of the machines were launched from.
func (h history) needed(created []time.Time) history {
	used := map[int]bool{}
	for _, at := range created {
		used[h.at(at)] = true
	}
	var out history
	for k, f := range h {
		if used[k] {
			out = append(out, f)
		}
	}
	return out
}

// and returns the history with one more former content. Machines that are older than it reaches count as stale.
func (h history) and(last former) history {
	out := slices.Clone(h)
	if k := len(out) - 1; k >= 0 && out[k].content == last.content {
		out[k].until = last.until
	} else {
		out = append(out, last)
	}
	if more := len(out) - historyMost; more > 0 {
		out = out[more:]
		out[0].content = unknown
	}
	return out
}

// Recorded returns the tags of a change that puts the wanted model on a Uniform scale set, with the history of its contents. It takes when
// the machines were created, and since when none can be of the present model, both by Azure's clock; zero if none is of it.
func (c Comparison) Recorded(tags map[string]*string, created []time.Time, until time.Time) map[string]*string {
	content := cmp.Or(c.cur.Content, c.State.Content)
	if content == c.model.Content {
		return tags
	}
	h := c.cur.history.needed(created)
	if !until.IsZero() {
		h = h.and(former{content, until})
	}
	out := cloned(tags)
	if there, ok := nameLike(out, TagHistory); ok {
		delete(out, there)
	}
	if len(h) > 0 {
		out[TagHistory] = new(h.String())
	}
	return out
}

// launched returns the content that a machine was made from, empty if nothing tells. Its tag does, unless that may be the one that its
// scale set has now: then the machine's age tells what the model was when it was created. One that has taken up the model since has all
// of it but the bootstrap data.
func (c Comparison) launched(tags map[string]*string, created *time.Time, azure report) string {
	content := Tag(tags, TagContent)
	if content == "" || content != c.cur.Content || created == nil || !c.tagsOfNow(tags) {
		return content
	}
	k := c.cur.history.at(*created)
	if k == len(c.cur.history) {
		return content
	}
	was := c.cur.history.content(k)
	if was == "" || azure == reportedBehind || was == unknown || cloud.OtherBootstrap(was, content) {
		return was
	}
	return content
}

// content returns the content of machines of the former model at an index. Those of a model that Muster did not write, of a scale set that
// was adopted, count as made from the first one that it wrote: empty if that is the present one, so that what is seen of them is compared.
func (h history) content(k int) string {
	for ; k < len(h); k++ {
		if was := h[k].content; was == unknown || !strings.HasPrefix(was, seenAlgorithm+":") {
			return was
		}
	}
	return ""
}

// tagsOfNow reports whether the tags of a machine may be those that its scale set has now: none that Muster changes tells them apart.
func (c Comparison) tagsOfNow(tags map[string]*string) bool {
	return Tag(tags, TagInPlace) == c.cur.InPlace && Tag(tags, TagData) == c.cur.Data
}
