package cloud

import (
	"strings"
	"unicode"
)

// ProviderKey returns the canonical form of a provider ID, so that two spellings of one instance compare equal: letter case is folded
// where the cloud ignores it, repeated slashes do not count, and where the instance's own ID is unique within its cloud
// the zone in front of it is left out (aws:///eu-west-1a/i-0abc, aws:////i-0abc and aws:///i-0abc are one instance).
// OCI's identifiers stand with and without its scheme: what lists instances and what makes Nodes don't agree on it.
// An ID that names no instance gives the empty key, which matches nothing.
func ProviderKey(id string) string {
	id = strings.TrimSpace(id)
	scheme, rest, ok := strings.Cut(id, "://")
	if !ok && bareOCID(id) {
		return "oci://" + id
	}
	if !ok {
		return ""
	}
	scheme = strings.ToLower(scheme)
	// Blanks may stand before a slash at the end too: what is left without it must not end in one.
	parts := strings.TrimRightFunc(rest, outer)
	if scheme == "" || parts == "" {
		return ""
	}
	switch scheme {
	case "aws":
		// A zone without an instance behind it is no instance.
		if strings.HasSuffix(rest, "/") {
			return ""
		}
		return "aws://" + parts[strings.LastIndexByte(parts, '/')+1:]
	case "azure":
		return scheme + "://" + strings.ToLower(joined(parts))
	default:
		return scheme + "://" + joined(parts)
	}
}

// joined are the parts of an ID with one slash between them and none before.
func joined(parts string) string {
	parts = strings.TrimLeft(parts, "/")
	if !strings.Contains(parts, "//") {
		return parts
	}
	return strings.Join(strings.FieldsFunc(parts, func(r rune) bool { return r == '/' }), "/")
}

// bareOCID reports whether an ID is an identifier of OCI without a scheme.
func bareOCID(id string) bool {
	return strings.HasPrefix(id, "ocid1.") && len(id) > len("ocid1.") && !strings.ContainsFunc(id, outer)
}

// outer reports whether a letter behind an ID means nothing.
func outer(r rune) bool { return r == '/' || unicode.IsSpace(r) }
