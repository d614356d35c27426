package nodegroup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
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

// want translates the specification, with whatever look-ups that takes. What does not depend on a look-up that failed is
// there even so.
func (p *pass) want(ctx context.Context) (wanted, error) {
	look := p.c.Resolver(p.t.Remembered, p.now)
	w := wanted{group: groupSpecOf(p.t), remember: look.Remember}
	session.KeepAdopted(p.t.Remembered, look.Remember)
	failed := []error{p.refused(), p.t.addSubnets(ctx, look, &w), p.wantTemplate(ctx, look, &w)}
	for _, err := range failed {
		if err != nil {
			look.Keep()
			return w, err
		}
	}
	return w, nil
}

// refused says what of the specification the controller may not do.
func (p *pass) refused() error {
	if len(p.t.pool.RoleAdditionalPolicies) > 0 && !p.driver.options.AllowAddRoles {
		return cloud.Invalidf(noderole.FieldPolicies,
			"policies may be added to the node role only where the controller allows it: switch on its feature gate EKSAllowAddRoles, or take the field out")
	}
	return nil
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
func (p *pass) wantTemplate(ctx context.Context, look *session.Resolver, w *wanted) error {
	a, err := p.asked()
	if err != nil {
		return err
	}
	is := 0
	if group := p.memory.group.is; group != nil {
		is = runsOf(group).minor
	}
	if w.course, err = courseOf(a, is); err != nil {
		return err
	}
	architecture, err := p.wantLaunch(ctx, look, w)
	if err != nil {
		return err
	}
	if !a.image {
		w.group.images = ekstypes.AMITypes(session.Deref(p.t.pool.AMIType))
		if w.group.images == "" {
			w.group.images = defaultImages(cmp.Or(a.minor, a.controlPlane), architecture == armProcessor)
		}
	}
	given := p.t.template == ""
	w.template = pool.Template{
		Content: compose(w.launch.Template.Content, given, w.course.next), Data: w.launch.Template.Data, UserManaged: given || w.launch.Template.UserManaged,
		Description: w.launch.Template.Description,
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
func (p *pass) wantLaunch(ctx context.Context, look *session.Resolver, w *wanted) (architecture string, err error) {
	source := p.t.source()
	if p.t.template != "" {
		w.launch, err = p.template().Want(ctx, look)
		return w.launch.Architecture, err
	}
	source.Spec = &awsv1.AWSLaunchTemplate{}
	architecture, w.launch.Capacity, err = source.Machines(ctx, look)
	return architecture, err
}

// ownImage reports whether nodes boot an image of the launch template's, one that was brought included: EKS takes neither version nor
// release nor family of images then.
func (p *pass) ownImage() bool {
	return p.t.pool.OwnImage() || p.memory.template.BringsImage()
}

// asked is what the specification asks for of version and release.
func (p *pass) asked() (asked, error) {
	a := asked{release: session.Deref(p.t.pool.AMIVersion), image: p.ownImage()}
	var err error
	if a.minor, err = minorOf(fieldVersion, p.t.KubernetesVersion); err != nil {
		return asked{}, err
	}
	// A control plane whose version can't be read is EKS's to compare with.
	a.controlPlane, _ = minorOf("", p.t.cluster.ControlPlaneVersion)
	return a, nil
}

// runsOf returns what the node group runs according to EKS.
func runsOf(is *ekstypes.Nodegroup) runs {
	minor, _ := minorOf("", session.Deref(is.Version))
	return runs{minor: minor, release: session.Deref(is.ReleaseVersion)}
}

// launchRef is the ref of the template that a node group is launched from, in that version or, where that is empty, in its own.
// Without a launch template it is empty: EKS's version says it all.
func (p *pass) launchRef(is *ekstypes.Nodegroup, version string) string {
	from := is.LaunchTemplate
	if from == nil {
		return ""
	}
	if version == "" {
		return p.template().RefOf(from.Id, from.Name, from.Version)
	}
	return p.template().RefOf(from.Id, from.Name, &version)
}

// composed is what machines are made of that are launched from a template's version, empty for none, and run this. What the
// specification does not ask for is left out, so that it makes nothing stale.
func (p *pass) composed(ref string, is runs, want wanted) pool.Template {
	seen := is.of(want.course.next)
	if ref == "" {
		return pool.Template{Ref: givenRef(is.minor, seen.release), Content: compose("", true, seen), UserManaged: true}
	}
	t := p.memory.template.TemplateOf(ref)
	t.Content = compose(t.Content, false, seen)
	return t
}

// templateNow is what the node group is launched from and runs.
func (p *pass) templateNow(is *ekstypes.Nodegroup, want wanted) pool.Template {
	return p.composed(p.launchRef(is, ""), runsOf(is), want)
}

// versions are the templates that exist. A launch template's are what they make of the version that the next step leads to, so that
// they can be compared with what is wanted. Without one they are what EKS gives: the wanted, and what the group runs.
func (p *pass) versions(want wanted) []pool.Template {
	if p.t.template != "" {
		list := p.memory.template.Versions()
		for k := range list {
			list[k].Content = compose(list[k].Content, false, want.course.next)
		}
		return list
	}
	var list []pool.Template
	is := p.memory.group.is
	if want.template.Content != "" {
		next := want.template
		next.Ref = givenRef(want.course.next.minor, want.course.next.release)
		if want.course.next.minor == 0 {
			next.Ref = givenRef(p.minorNow(), want.course.next.release)
		}
		list = append(list, next)
	}
	if is != nil {
		if now := p.templateNow(is, want); !slices.ContainsFunc(list, func(t pool.Template) bool { return t.Ref == now.Ref }) {
			list = append(list, now)
		}
	}
	return list
}

// minorNow is the minor version that the group runs, or would be made with.
func (p *pass) minorNow() int {
	if is := p.memory.group.is; is != nil {
		return runsOf(is).minor
	}
	minor, _ := minorOf("", p.t.cluster.ControlPlaneVersion)
	return minor
}

// differences says for what an instance was launched from in which of the object's fields it differs from what is wanted.
func (p *pass) differences(want wanted) func(pool.Template) []string {
	of := func(string) []string { return nil }
	if p.t.template != "" {
		of = p.template().Differences(want.launch)
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

// template is the launch template's side of the pass.
func (p *pass) template() launch.Pass {
	source := p.t.source()
	source.IgnitionAllowed = p.c.BootstrapFormatIgnition
	return launch.Pass{Session: p.c, Source: source, Memory: &p.memory.template, Now: p.now, Deleting: p.t.Deleting, Trouble: len(p.memory.activities.Issues()) > 0}
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
