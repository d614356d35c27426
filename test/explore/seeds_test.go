package explore

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

const (
	// firstEver is the first seed where no commit is known: in an exported tree, or without git.
	firstEver = 1
	// window is how many seeds lie between the first ones of two commits: a run of go test is shorter.
	window = 1000
	// windows is how many first seeds there are.
	windows = 1_000_000
)

// startOf is the first seed of a commit. Each commit explores scenarios of its own: seeds that stay the same find regressions only.
func startOf(commit string) uint64 {
	if !commitHash.MatchString(commit) {
		return firstEver
	}
	number, err := strconv.ParseUint(commit[:hashDigits], 16, 64)
	if err != nil {
		return firstEver
	}
	return firstEver + number%windows*window
}

// hashDigits is how much of a hash chooses the seeds.
const hashDigits = 15

var commitHash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// commit is the hash of the commit that is checked out, empty where git does not tell.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--verify", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
