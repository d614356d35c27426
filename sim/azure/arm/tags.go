package arm

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// maxTags, maxTagName and maxTagValue bound tags.
const maxTags, maxTagName, maxTagValue = 50, 512, 256

// CheckTags refuses tags of a document that Resource Manager would refuse.
func CheckTags(d document.Object) error {
	tags := document.Under(d, "tags")
	if len(tags) > maxTags {
		return Refuse(http.StatusBadRequest, "InvalidNumberOfTags", "The number of tags '%d' is more than the maximum allowed '%d'.", len(tags),
			maxTags)
	}
	for k, v := range tags {
		s, _ := v.(string)
		if k == "" || len(k) > maxTagName || strings.ContainsAny(k, `<>%&\?/`) {
			return Refuse(http.StatusBadRequest, "InvalidTagNameCharacters",
				"The tag names '%s' have reserved characters '<,>,%%,&,\\,?,/' or control characters.", k)
		}
		if len(s) > maxTagValue {
			return Refuse(http.StatusBadRequest, "InvalidTagValueLength",
				"Tag value too large. Following tag value '%s' exceeded the maximum length. Maximum allowed length for tag value - '%d' characters.", s,
				maxTagValue)
		}
	}
	return nil
}
