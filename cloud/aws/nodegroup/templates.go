package nodegroup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// algorithm and contentLength are those of launch templates' contents. A new algorithm is added beside this, never in its
	// place.
	algorithm     = "v1"
	contentLength = 16
)

// compose is the content of machines: that of the launch template, and what EKS runs on it. Where EKS has no part in it, it is the
// template's own; without a template it is EKS's alone. A template of unknown content makes machines of unknown content.
func compose(template string, given bool, r runs) string {
	if !given && (template == "" || r == runs{}) {
		return template
	}
	text, _ := json.Marshal([]string{template, strconv.Itoa(r.minor), r.release})
	return algorithm + ":" + cloud.Digest(text, contentLength)
}

// givenPrefix begins the names of EKS's own versions, in the place of launch templates.
const givenPrefix = "eks:"

// givenRef names a version and a release of EKS's own: "eks:1.31/1.31.2-20250103".
func givenRef(minor int, release string) string {
	ref := givenPrefix + "default"
	if minor != 0 {
		ref = givenPrefix + eksVersion(minor)
	}
	if release != "" {
		ref += "/" + release
	}
	return ref
}

// parseGiven takes a name of EKS's own version apart.
func parseGiven(ref string) (r runs, err error) {
	rest, ok := strings.CutPrefix(ref, givenPrefix)
	if !ok {
		return runs{}, fmt.Errorf("template %q: want EKS's own version, as in eks:1.31", ref)
	}
	version, release, _ := strings.Cut(rest, "/")
	if version != "default" {
		if r.minor, err = minorOf(fieldVersion, version); err != nil {
			return runs{}, fmt.Errorf("template %q: %w", ref, err)
		}
	}
	r.release = release
	return r, nil
}

// composed returns the template of machines that are launched from a version of a template, empty for none, and run a version of EKS.
// Values that the specification does not name are left out, so that they make nothing stale.
func (s *state) composed(ref string, is runs) pool.Template {
	compared := is.of(s.want.step.next)
	if ref == "" {
		return pool.Template{Ref: givenRef(is.minor, compared.release), Content: compose("", true, compared), UserManaged: true, ByCloud: true}
	}
	t := s.m.template.TemplateOf(ref)
	t.Content = compose(t.Content, false, compared)
	return t
}

// current returns the template that the node group is launched from, with the version of EKS that it runs.
func (s *state) current() pool.Template { return s.composed(s.ref(""), s.running()) }

// versions are the templates that exist. A launch template's are what they make of the version that the next step leads to, so that
// they can be compared with what is wanted. Without one they are what EKS gives: the wanted, and what the group runs.
func (s *state) versions() []pool.Template {
	to := s.want.step.next
	if s.t.template != "" {
		list := s.m.template.Versions()
		for k := range list {
			list[k].Content = compose(list[k].Content, false, to)
		}
		return list
	}
	minor := s.want.request.controlPlane
	if s.is != nil {
		minor = s.running().minor
	}
	var list []pool.Template
	if s.want.template.Content != "" {
		next := s.want.template
		// A version that is not named is the one that the group runs, or would be made with.
		next.Ref = givenRef(cmp.Or(to.minor, minor), to.release)
		list = append(list, next)
	}
	if s.is != nil {
		if now := s.current(); !slices.ContainsFunc(list, func(t pool.Template) bool { return t.Ref == now.Ref }) {
			list = append(list, now)
		}
	}
	return list
}

// deletable are the versions of the pool's template while the node group has another owner, unless that is launched from them: they are
// deleted with the pool.
func (s *state) deletable() []pool.Template {
	if s.t.template == "" || s.launchesForeign() {
		return nil
	}
	return s.m.template.Versions()
}

// differences returns a function that names, for what an instance was launched from, the fields of the object that differ from what is
// wanted.
func (s *state) differences() func(pool.Template) []string {
	of := func(string) []string { return nil }
	if s.t.template != "" {
		of = s.launch.Differences(s.want.launch)
	}
	step := s.want.step
	return func(t pool.Template) []string {
		if t.Same(s.want.template) || s.want.template.Content == "" {
			return nil
		}
		fields := slices.Clone(of(t.Ref))
		if words := step.path.String(); words != "" && !step.path.WaitsForControlPlane {
			fields = append(fields, fmt.Sprintf("%s (%s)", fieldVersion, words))
		} else if step.next.release != "" && len(fields) == 0 {
			fields = append(fields, fieldRelease)
		}
		slices.Sort(fields)
		return fields
	}
}

// goalOf returns the version of the launch template that an update leads to, empty for the group's own, and what EKS runs on it: what the
// update does not name is as the group shows it.
func goalOf(u updateRead, is runs) (version string, to runs) {
	to = is
	for _, param := range u.Params {
		text := ptr.Deref(param.Value, "")
		switch param.Type {
		case ekstypes.UpdateParamTypeVersion:
			if minor, err := minorOf(fieldVersion, text); err == nil {
				to.minor = minor
			}
		case ekstypes.UpdateParamTypeReleaseVersion:
			to.release = text
		case ekstypes.UpdateParamTypeLaunchTemplateVersion:
			version = text
		}
	}
	return version, to
}

// goal returns the template that an update leads to.
func (s *state) goal(u updateRead) pool.Template {
	version, to := goalOf(u, s.running())
	return s.composed(s.ref(version), to)
}
