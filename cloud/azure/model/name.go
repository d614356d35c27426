package model

import (
	"regexp"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

const (
	// windowsNameLimit leaves room for the six letters that Azure puts behind the name of a machine, which Windows lets have 15.
	windowsNameLimit = 9
	// windowsKept letters of a longer name are kept.
	windowsKept = 5
	// linuxNameLimit leaves the same room in the 64 letters that Linux lets a host name have.
	linuxNameLimit = 58
)

// names are what Azure takes as the name of a scale set and, dots aside, as the beginning of its machines' names.
var names = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// Name is what the owner's scale set is called: as the user wants it, else as the object, shortened where Windows knows no names
// of that length. Scale sets are named within a resource group, and machines are called after them.
func Name(owner cloud.Owner, osType azurev1.OSType) (string, error) {
	name, field := owner.Name, fieldName
	if owner.GroupName != "" {
		name, field = owner.GroupName, "annotation muster.dev/group-name"
	} else if isWindows(osType) && len(name) > windowsNameLimit {
		name = "win-" + name[len(name)-windowsKept:]
	}
	limit := linuxNameLimit
	if isWindows(osType) {
		limit = windowsNameLimit
	}
	if len(name) > limit {
		return "", cloud.Invalidf(field, "a scale set of %s machines has a name of at most %d letters, for theirs begin with it: %q has %d",
			osName(osType), limit, name, len(name))
	}
	if !names.MatchString(name) {
		return "", cloud.Invalidf(field, "%q is no name for a scale set: it takes letters, digits, dots and hyphens, and begins and ends with "+
			"a letter or digit", name)
	}
	return name, nil
}

// computerPrefix is what the machines' host names begin with, which have no dots.
func computerPrefix(name string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(name) }

func isWindows(osType azurev1.OSType) bool {
	return strings.EqualFold(string(osType), string(azurev1.WindowsOS))
}

func osName(osType azurev1.OSType) string {
	if isWindows(osType) {
		return "Windows"
	}
	return "Linux"
}
