package nodegroup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// wanted is what the specification asks for now.
type wanted struct {
	group groupSpec
	// launch is what it asks for of the launch template; zero without one.
	launch launch.Want
	// course is what the next step leads to.
	course course
	// template is what machines are told apart by.
	template pool.Template
	remember map[string]string
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (r *reader) want(ctx context.Context) (wanted, error) {
	look := r.c.Resolver(r.t.Remembered, r.now)
	w := wanted{group: groupSpecOf(r.t, r.memory.written, r.now), remember: look.Remember}
	session.KeepAdopted(r.t.Remembered, look.Remember)
	failed := []error{r.t.addSubnets(ctx, look, &w), w.group.checkTags(), r.wantTemplate(ctx, look, &w)}
	for _, err := range failed {
		if err != nil {
			look.Keep()
			return w, err
		}
	}
	return w, nil
}

// addSubnets resolves the subnets that the specification asks for into w.
func (t target) addSubnets(ctx context.Context, look *session.Resolver, w *wanted) error {
	subnets, err := launch.Subnets(ctx, look, t.cluster, t.places())
	if err == nil && t.template != "" {
		err = t.source().FitsIn(subnets)
	}
	if err == nil {
		w.group.subnets = session.Unique(subnets)
	}
	return err
}

// wantTemplate translates the launch template, and puts the version to it that the next step leads to.
func (r *reader) wantTemplate(ctx context.Context, look *session.Resolver, w *wanted) error {
	a, err := r.asked()
	if err != nil {
		return err
	}
	if t := r.t.pool.AMIType; t != nil && *t != awsv1.AMITypeCustom && r.memory.template.BringsImage() {
		return cloud.Invalidf(fieldImages, "the version that %s.existing names has an image of its own: take the field out", fieldTemplate)
	}
	is := 0
	if group := r.memory.group.is; group != nil {
		is = runsOf(group).minor
	}
	if w.course, err = courseOf(a, is); err != nil {
		return err
	}
	architecture, err := r.wantLaunch(ctx, look, w)
	if err != nil {
		return err
	}
	if !a.image {
		w.group.images = ekstypes.AMITypes(ptr.Deref(r.t.pool.AMIType, ""))
		if w.group.images == "" {
			w.group.images = defaultImages(cmp.Or(a.minor, a.controlPlane), architecture == armProcessor)
		}
	}
	given := r.t.template == ""
	w.template = pool.Template{
		Content: compose(w.launch.Template.Content, given, w.course.next), Data: w.launch.Template.Data, UserManaged: given ||
			w.launch.Template.UserManaged,
		ByCloud: given, Description: w.launch.Template.Description,
	}
	return nil
}

// capacity is what each node offers, with the operating system of the group's images.
func (w *wanted) capacity() *pool.NodeCapacity {
	if w.launch.Capacity == nil {
		return nil
	}
	c := *w.launch.Capacity
	if strings.HasPrefix(string(w.group.images), "WINDOWS") {
		c.OperatingSystem = "windows"
	}
	return &c
}

// armProcessor is EC2's word for ARM processors.
const armProcessor = "arm64"

// wantLaunch asks for the launch template where the pool has one of its own, and otherwise for the instance types' architecture.
func (r *reader) wantLaunch(ctx context.Context, look *session.Resolver, w *wanted) (architecture string, err error) {
	source := r.t.source()
	if r.t.template != "" {
		w.launch, err = r.launch().Want(ctx, look)
		return w.launch.Architecture, err
	}
	source.Spec = &awsv1.AWSLaunchTemplate{}
	architecture, w.launch.Capacity, err = source.Machines(ctx, look)
	return architecture, err
}

// ownImage reports whether nodes boot an image of the launch template's, one that was brought included: EKS takes neither version nor
// release nor family of images then.
func (l templates) ownImage() bool {
	return l.t.pool.OwnImage() || l.launch.Memory.BringsImage()
}

// asked is what the specification asks for of version and release.
func (r *reader) asked() (asked, error) {
	a := asked{release: ptr.Deref(r.t.pool.AMIVersion, ""), image: r.templates().ownImage()}
	var err error
	if a.minor, err = minorOf(fieldVersion, r.t.KubernetesVersion); err != nil {
		return asked{}, err
	}
	// A control plane whose version can't be read is EKS's to compare with.
	a.controlPlane, _ = minorOf("", r.t.cluster.ControlPlaneVersion)
	return a, nil
}

// runsOf returns what the node group runs according to EKS.
func runsOf(is *ekstypes.Nodegroup) runs {
	minor, _ := minorOf("", ptr.Deref(is.Version, ""))
	return runs{minor: minor, release: ptr.Deref(is.ReleaseVersion, "")}
}

// ref is the ref of the template that a node group is launched from, in that version or, where that is empty, in its own.
// Without a launch template it is empty: EKS's version says it all.
func (l templates) ref(is *ekstypes.Nodegroup, version string) string {
	from := is.LaunchTemplate
	if from == nil {
		return ""
	}
	if version == "" {
		return l.launch.RefOf(from.Id, from.Name, from.Version)
	}
	return l.launch.RefOf(from.Id, from.Name, &version)
}

// composed is what machines are made of that are launched from a template's version, empty for none, and run this. What the
// specification does not ask for is left out, so that it makes nothing stale.
func (l templates) composed(ref string, is runs, want wanted) pool.Template {
	seen := is.of(want.course.next)
	if ref == "" {
		return pool.Template{Ref: givenRef(is.minor, seen.release), Content: compose("", true, seen), UserManaged: true, ByCloud: true}
	}
	t := l.launch.Memory.TemplateOf(ref)
	t.Content = compose(t.Content, false, seen)
	return t
}

// now is what the node group is launched from and runs.
func (l templates) now(is *ekstypes.Nodegroup, want wanted) pool.Template {
	return l.composed(l.ref(is, ""), runsOf(is), want)
}

// versions are the templates that exist. A launch template's are what they make of the version that the next step leads to, so that
// they can be compared with what is wanted. Without one they are what EKS gives: the wanted, and what the group runs.
func (l templates) versions(is *ekstypes.Nodegroup, want wanted) []pool.Template {
	if l.t.template != "" {
		list := l.launch.Memory.Versions()
		for k := range list {
			list[k].Content = compose(list[k].Content, false, want.course.next)
		}
		return list
	}
	var list []pool.Template
	if want.template.Content != "" {
		next := want.template
		next.Ref = givenRef(want.course.next.minor, want.course.next.release)
		if want.course.next.minor == 0 {
			next.Ref = givenRef(l.minorNow(is), want.course.next.release)
		}
		list = append(list, next)
	}
	if is != nil {
		if now := l.now(is, want); !slices.ContainsFunc(list, func(t pool.Template) bool { return t.Ref == now.Ref }) {
			list = append(list, now)
		}
	}
	return list
}

// minorNow is the minor version that the group runs, or would be made with.
func (l templates) minorNow(is *ekstypes.Nodegroup) int {
	if is != nil {
		return runsOf(is).minor
	}
	minor, _ := minorOf("", l.t.cluster.ControlPlaneVersion)
	return minor
}

// differences says for what an instance was launched from in which of the object's fields it differs from what is wanted.
func (l templates) differences(want wanted) func(pool.Template) []string {
	of := func(string) []string { return nil }
	if l.t.template != "" {
		of = l.launch.Differences(want.launch)
	}
	return func(t pool.Template) []string {
		if t.Same(want.template) || want.template.Content == "" {
			return nil
		}
		fields := slices.Clone(of(t.Ref))
		if words := want.course.path.String(); words != "" && !want.course.path.WaitsForControlPlane {
			fields = append(fields, fmt.Sprintf("%s (%s)", fieldVersion, words))
		} else if want.course.next.release != "" && len(fields) == 0 {
			fields = append(fields, fieldRelease)
		}
		slices.Sort(fields)
		return fields
	}
}

// templates are what the nodes of a pool are launched from: launch templates, or EKS's own versions.
type templates struct {
	t      target
	launch launch.Pass
}

// launch returns what reads and writes the pool's launch template.
func (r *reader) launch() launch.Pass {
	source := r.t.source()
	source.IgnitionAllowed = r.c.BootstrapFormatIgnition
	return launch.Pass{
		Session: r.c, Source: source, Memory: &r.memory.template, Now: r.now, Deleting: r.t.Deleting, ByEvent: r.t.Cache.ByEvent && !r.t.Adopt,
		Trouble: len(r.memory.activities.Issues()) > 0,
	}
}

const tokenLength = 32

// clientToken makes a repeated request the same request: it is a function of whom it is for, what is asked, and what was there
// before.
func clientToken(of ...string) string {
	text, _ := json.Marshal(of)
	return cloud.Digest(text, tokenLength)
}

// item is the path of a list's item.
func item(field string, k int) string { return fmt.Sprintf("%s[%d]", field, k) }
