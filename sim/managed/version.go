package managed

import (
	"slices"
	"strconv"
	"strings"
)

// Minor returns the minor number of a version of Kubernetes such as 1.34.2, -1 for what is none.
func Minor(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return -1
	}
	return number(parts[1])
}

// CompareVersions orders two full versions, also those with a cloud's own build, such as 1.34.2-gke.100.
func CompareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

// numbers are the numbers of a version in their order.
func numbers(version string) []int {
	var out []int
	for part := range strings.FieldsFuncSeq(version, func(r rune) bool { return r == '.' || r == '-' }) {
		if part[0] >= '0' && part[0] <= '9' {
			out = append(out, number(part))
		}
	}
	return out
}

func number(written string) int {
	n, err := strconv.Atoi(written)
	if err != nil {
		return -1
	}
	return n
}

// Offered returns the version that a request names, or the newest one that it begins, as 1.34 begins 1.34.2; "" if none is offered.
func Offered(versions []string, requested string) string {
	if slices.Contains(versions, requested) {
		return requested
	}
	newest := ""
	for _, v := range versions {
		begun := strings.HasPrefix(v, requested+".") || strings.HasPrefix(v, requested+"-")
		if begun && strings.Contains(requested, ".") && (newest == "" || CompareVersions(v, newest) > 0) {
			newest = v
		}
	}
	return newest
}

// Upgrades returns the versions to which one may be upgraded: later ones of its minor version and of the next, up to a limit unless that
// is "".
func Upgrades(versions []string, from, limit string) []string {
	return slices.DeleteFunc(slices.Clone(versions), func(v string) bool {
		return CompareVersions(v, from) <= 0 || Minor(v) > Minor(from)+1 || limit != "" && CompareVersions(v, limit) > 0
	})
}
