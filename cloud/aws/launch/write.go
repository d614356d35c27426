package launch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Put makes the template with its first version, or a new version of it. Base is the newest version that was seen before;
// predecessor, which makes the client token, is the same, or what the group still names where the template was deleted under it.
func (p Pass) Put(ctx context.Context, want Want, base, predecessor string) error {
	if p.Source.Spec.Existing != nil {
		return cloud.Invalidf(fieldExisting, "a launch template that was brought is never written to: it belongs to the user")
	}
	if want.data == nil {
		return cloud.Invalidf(fieldBootstrap, "there is no bootstrap data to make a launch template with")
	}
	if p.Memory.madeSince(base, want.Template, p.Now) {
		return nil
	}
	if !want.stored {
		return p.put(ctx, want, predecessor)
	}
	text, err := p.objects().store(ctx)
	if err != nil {
		return err
	}
	data := *want.data
	data.UserData, want.data = encoded(text), &data
	// The holder of a presigned address has what it leads to.
	return cloud.RedactError(p.put(ctx, want, predecessor), cloud.NewBootstrap(text, ""))
}

// put asks for a template or for a version of it.
func (p Pass) put(ctx context.Context, want Want, predecessor string) (err error) {
	id := p.Memory.id
	defer p.touched()()
	for k := range tokensMost {
		token := clientToken(p.Source.Owner.ID, want.Template, predecessor+strings.Repeat("+", k))
		if id == "" {
			err = p.createTemplate(ctx, want, token)
		} else {
			err = p.createVersion(ctx, id, want, token)
		}
		if !spent(err, id) {
			break
		}
	}
	return err
}

// touched is called before a write to the template, what it returns after it: what was read of the template is out of date.
func (p Pass) touched() (after func()) {
	after = func() { p.Session.TouchTemplate(p.Source.Name) }
	after()
	p.Memory.touched()
	return after
}

// tokensMost bounds the client tokens that are tried. The service remembers for a day what a token has made, and goes on
// answering with it when that was deleted by hand meanwhile, or refuses the token when what goes with it has changed
// (tags, which are no part of the content): then the next token is due, which is as good a function of what was observed
// as the first. A lost reply still finds the token that has made what exists.
const tokensMost = 5

// codeNoVersion is the error code of EC2 for a version that does not exist.
const codeNoVersion = "InvalidLaunchTemplateId.VersionNotFound"

// spent reports whether the client token once made something else, or something that does not exist any more.
func spent(err error, id string) bool {
	switch cloud.CodeOf(err) {
	case "IdempotentParameterMismatch":
		return true
	case "InvalidLaunchTemplateId.NotFound":
		return id == ""
	case codeNoVersion:
		return id != ""
	}
	return false
}

func (p Pass) createVersion(ctx context.Context, id string, want Want, token string) error {
	words := describe(want.Template, p.about(want))
	made, err := p.Session.EC2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: &id, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
	})
	if err != nil {
		return session.Refusal(err, p.Now)
	}
	if made.LaunchTemplateVersion != nil {
		p.Memory.learned(id, versionOf(*made.LaunchTemplateVersion), p.Now)
	}
	return nil
}

// madeSince reports whether a version of the wanted content and data has been made after the given one.
func (m *Memory) madeSince(base string, want pool.Template, now time.Time) bool {
	for _, v := range m.versions {
		if v.Ref == base {
			return false
		}
		if v.Same(want) && v.as(now).Data == want.Data {
			return true
		}
	}
	return false
}

func (p Pass) createTemplate(ctx context.Context, want Want, token string) error {
	words := describe(want.Template, p.about(want))
	made, err := p.Session.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &p.Source.Name, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: session.EC2Tags(p.Source.Tags)}},
	})
	if err = session.Refusal(err, p.Now); cloud.CodeOf(err) == "InvalidLaunchTemplateName.AlreadyExistsException" {
		return p.confirmTemplateCreated(ctx, err)
	}
	if err != nil {
		if cloud.KindOf(err) == cloud.Unavailable {
			p.Memory.made = p.Now
		}
		return err
	}
	p.Memory.made = p.Now
	if made.LaunchTemplate != nil {
		first := version{number: ptr.Deref(made.LaunchTemplate.LatestVersionNumber, 0), Template: want.Template, parts: partsOf(*want.data),
			pointer: pointerOf(want.data.UserData)}
		_, _, first.Description = undescribe(words)
		first.whole = isData(want.data.UserData, want.Template.Data)
		first.Undeletable = first.number == ptr.Deref(made.LaunchTemplate.DefaultVersionNumber, 0)
		id := ptr.Deref(made.LaunchTemplate.LaunchTemplateId, "")
		first.Ref = Ref(id, strconv.FormatInt(first.number, 10))
		p.Memory.versions, p.Memory.identity = nil, identity{taggedFor: p.Source.Owner.Key()}
		p.Memory.learned(id, first, p.Now)
	}
	return nil
}

// confirmTemplateCreated finds out whether a template that exists already is the one that an earlier, unanswered request made.
func (p Pass) confirmTemplateCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, p.read(ctx, nil, cloud.NoSharedCache), func() bool { return p.Memory.ours })
}

// Prune deletes versions. One that is gone already is no error.
func (p Pass) Prune(ctx context.Context, refs []string) error {
	id := p.Memory.id
	if id == "" || len(refs) == 0 || p.Memory.given != nil {
		return nil
	}
	numbers := make([]string, 0, len(refs))
	for _, name := range refs {
		of, number, err := ParseRef(name)
		if err != nil {
			return err
		}
		if of != id {
			return fmt.Errorf("asked to delete version %s, which is not of this pool's launch template %s", name, id)
		}
		numbers = append(numbers, number)
	}
	defer p.touched()()
	for some := range slices.Chunk(numbers, deletedMost) {
		if err := deleteVersions(ctx, p, id, some); err != nil {
			if session.Absent(err) {
				return nil
			}
			return err
		}
	}
	objects := p.Source.objectsOf(p.Memory.versions)
	p.Memory.versions = slices.DeleteFunc(p.Memory.versions, func(v version) bool { return slices.Contains(refs, v.Ref) })
	left := p.Source.objectsOf(p.Memory.versions)
	return p.objects().dropObjects(ctx, slices.DeleteFunc(objects, func(o object) bool { return slices.Contains(left, o) }))
}

// deletedMost is the maximum number of versions in one request to delete.
const deletedMost = 200

// deleteVersions deletes versions of a template by their numbers in one request.
func deleteVersions(ctx context.Context, p Pass, id string, numbers []string) error {
	done, err := p.Session.EC2.DeleteLaunchTemplateVersions(ctx,
		&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: numbers})
	if err != nil {
		return session.Refusal(err, p.Now)
	}
	for _, item := range done.UnsuccessfullyDeletedLaunchTemplateVersions {
		if err := undeleted(item); err != nil {
			return err
		}
	}
	return nil
}

// SetDefault makes a version the template's default, for clients that launch from it without saying from which version.
func (p Pass) SetDefault(ctx context.Context, ref string) error {
	id, number, err := ParseRef(ref)
	if err != nil {
		return err
	}
	if id != p.Memory.id || !p.Memory.ours {
		return fmt.Errorf("asked to make version %s the default, which is not of this pool's launch template %s", ref, p.Memory.id)
	}
	defer p.touched()()
	_, err = p.Session.EC2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &id, DefaultVersion: &number})
	return session.Refusal(err, p.Now)
}

// undeleted is the error of one version that was not deleted; nil when it is not there anyway.
func undeleted(item ec2types.DeleteLaunchTemplateVersionsResponseErrorItem) error {
	if item.ResponseError == nil {
		return nil
	}
	switch item.ResponseError.Code {
	case ec2types.LaunchTemplateErrorCodeLaunchTemplateVersionDoesNotExist, ec2types.LaunchTemplateErrorCodeLaunchTemplateIdDoesNotExist,
		ec2types.LaunchTemplateErrorCodeLaunchTemplateNameDoesNotExist:
		return nil
	}
	return &cloud.Error{
		Kind: cloud.Conflict, Op: "ec2:DeleteLaunchTemplateVersions", Code: string(item.ResponseError.Code),
		Message: fmt.Sprintf("version %d: %s", ptr.Deref(item.VersionNumber, 0), session.Clean(ptr.Deref(item.ResponseError.Message, ""))),
	}
}

// Delete deletes the template with all its versions and what they point to, if it is ours.
func (p Pass) Delete(ctx context.Context) error {
	if err := driverkit.Owned(p.Foreign()); err != nil {
		return err
	}
	id := p.Memory.id
	if id == "" || p.Memory.given != nil {
		return nil
	}
	if err := p.objects().dropObjects(ctx, p.Source.objectsOf(p.Memory.versions)); err != nil {
		return err
	}
	// Whether the reply comes or not, it may be gone from now on.
	p.Memory.made = time.Time{}
	defer p.touched()()
	_, err := p.Session.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id})
	if err = session.Refusal(err, p.Now); err != nil && !session.Absent(err) {
		return err
	}
	*p.Memory = Memory{at: p.Now, seen: p.Now, Wrote: true}
	if err == nil {
		p.Memory.deleted = p.Now
	}
	return nil
}

// FollowsGroup returns, for messages, the launch template of an adopted group as far as it is not tagged as the pool's yet: the group is,
// and it launches from it, so that a tag of another pool is that of one which lost the group. It is empty for the pool's own, and for one
// of another cluster. from is the ref of what the group launches from.
func FollowsGroup(p Pass, from string) string {
	if p.Foreign() == nil || p.Memory.otherCluster != "" || !p.Memory.Holds(from) {
		return ""
	}
	return fmt.Sprintf("owner tags of launch template %s (%s)", p.Source.Name, p.Memory.id)
}

// TakeOver writes the pool's tags to the launch template of an adopted group (FollowsGroup).
func TakeOver(ctx context.Context, p Pass) error {
	id := p.Memory.id
	defer p.touched()()
	_, err := p.Session.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: session.EC2Tags(p.Source.Tags)})
	return session.Refusal(err, p.Now)
}
