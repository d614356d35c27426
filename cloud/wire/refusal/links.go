package refusal

import (
	"regexp"
	"strings"

	"github.com/muster-project/muster/cloud"
)

var (
	address  = regexp.MustCompile(`(?i)https?://\S+`)
	sentence = regexp.MustCompile(`\.\s+`)
	spaces   = regexp.MustCompile(`\s+`)
)

// withoutLinks returns a message on one line without the sentences that refer the reader to an address. Of a message of such sentences
// alone only the addresses are removed.
func withoutLinks(message string) string {
	message = strings.TrimSpace(spaces.ReplaceAllString(message, " "))
	sentences := sentence.Split(message, -1)
	kept := sentences[:0]
	for _, text := range sentences {
		if !address.MatchString(text) {
			kept = append(kept, text)
		}
	}
	if len(kept) == 0 {
		kept = []string{strings.TrimSpace(address.ReplaceAllString(message, ""))}
	}
	return cloud.NormalizeText(strings.Join(kept, ". "))
}
