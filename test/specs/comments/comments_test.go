package comments

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var list = flag.Bool("list", false, "print the restricting sentences of each field")

const root = "../../.."

var (
	// restricts matches words about whether a service accepts or returns a field at all.
	restricts = regexp.MustCompile(`(?i)\b(unused|deprecated|preview|no longer|ignored|(not|isn't|aren't) supported)\b`)
	// shownOnly matches words that only bear on a field that is set.
	shownOnly = regexp.MustCompile(`(?i)\b(output[- ]only|read-only)\b`)
	// defaults matches what a service fills in, limits what it refuses.
	defaults = regexp.MustCompile(`(?i)\b(defaults?)\b`)
	limits   = regexp.MustCompile(`(?i)\b(limits?|limited|maximum|minimum|at most|up to)\b.*\d|\d.*\b(limits?|maximum|minimum)\b`)
	// version is a condition on the version of the API, which the SDK meets.
	version = regexp.MustCompile(`(?i)minimum api.version:.*|the minimum api-version is\s+\S+`)
	// link is the address of a page, or the text of a link.
	link = regexp.MustCompile(`\[[^\]]*\](: \S+)?|\(?https?://\S+`)
	// sentence ends one.
	sentence = regexp.MustCompile(`[.;]\s+|\n\n`)
)

// restrictions returns the sentences of a field's comment that restrict the field.
func restrictions(f field) (out []string) {
	text := link.ReplaceAllString(version.ReplaceAllString(f.comment, ""), "")
	for _, s := range sentence.Split(text, -1) {
		s = strings.Join(strings.Fields(s), " ")
		if restricts.MatchString(s) || f.set && (shownOnly.MatchString(s) || defaults.MatchString(s) || limits.MatchString(s)) {
			out = append(out, s)
		}
	}
	return out
}

// TestCommentsAreAnswered holds that each restriction in the comment of a field that a driver uses has an answer, and each answer a field.
// With -args -list it prints the restrictions.
func TestCommentsAreAnswered(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("go list loads the drivers: left out with -short")
	}
	answers, err := answered("answers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	used, err := usedFields()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		found := restrictions(used[name])
		if len(found) == 0 {
			continue
		}
		if *list {
			fmt.Printf("%s\t%s\n", name, strings.Join(found, " | "))
		}
		if answers[name] == "" {
			t.Errorf("%s: want an answer in answers.tsv to %q", name, found)
		}
		delete(answers, name)
	}
	for name := range answers {
		t.Errorf("%s: the answer has no field that a driver uses and whose comment restricts it", name)
	}
}

// usedFields returns the fields of SDKs that drivers use, without those by which requests force or null others.
func usedFields() (map[string]field, error) {
	r, err := read(root, "cloud")
	if err != nil {
		return nil, err
	}
	used, err := r.fields()
	if err != nil {
		return nil, err
	}
	named, err := r.named()
	if err != nil {
		return nil, err
	}
	maps.Copy(used, named)
	maps.DeleteFunc(used, func(name string, _ field) bool {
		return strings.HasSuffix(name, ".ForceSendFields") || strings.HasSuffix(name, ".NullFields")
	})
	return used, nil
}

// answered reads the answers by field, which are in order.
func answered(name string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	out, last := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		name, answer, whole := strings.Cut(strings.TrimSpace(line), "\t")
		if !whole || answer == "" || name <= last {
			return nil, fmt.Errorf("%q: want a field and an answer, behind %q in order", line, last)
		}
		out[name], last = answer, name
	}
	return out, nil
}

func TestRestrictions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		comment string
		set     bool
		want    []string
	}{
		{"Output only. The state.", true, []string{"Output only"}},
		{"Output only. The state.", false, nil},
		{"Deprecated. Use conditions.", false, []string{"Deprecated"}},
		{"You can specify up to\n20 instances.", true, []string{"You can specify up to 20 instances."}},
		{"The maximum size of the group.", true, nil},
		{"The size, see [Set the default size]. A number.", true, nil},
		{"The zones. Minimum api-version: 2017-12-01.", true, nil},
		{"The strategy. The default is Rolling.", false, nil},
	} {
		got := restrictions(field{row.comment, row.set})
		if !slices.Equal(got, row.want) {
			t.Errorf("%q, set %t: want %q, got %q", row.comment, row.set, row.want, got)
		}
	}
}

func TestAnsweredRefuses(t *testing.T) {
	t.Parallel()
	for why, text := range map[string]string{"no answer": "a.B.C\t\n", "no tab": "a.B.C is\n", "twice": "a.B.C\tx\na.B.C\ty\n"} {
		file := filepath.Join(t.TempDir(), "answers.tsv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := answered(file); err == nil {
			t.Errorf("%s: want an error", why)
		}
	}
}
