// Command release builds the files of a release into a folder, and checks them. It needs Go and git, and no container engine.
//
//	release -version v0.1.0 [-platforms linux/amd64,...] [-out DIR]
//	release -check DIR
//	release -push DIR [-image REGISTRY/REPOSITORY]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// allPlatforms are those that a release has.
const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// versions are those of releases, with the leading v.
var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// release is one release while it is built.
type release struct {
	version string
	// imageDigest is the image's digest; empty before it is built.
	imageDigest string
	// imageName is where the image is published, without its tag.
	imageName string
	// root is the folder of the repository, out the folder of the release.
	root, out string
	platforms []platform
	// commit and created are the revision that is built and its time; every file carries this time.
	commit  string
	created time.Time
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// binary returns the file name of a command for the platform.
func (p platform) binary(command string) string {
	name := command + "-" + p.os + "-" + p.arch
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	version := set.String("version", "", "version, for example v0.1.0")
	platforms := set.String("platforms", allPlatforms, "platforms to build for, OS/ARCH separated by commas")
	root := set.String("root", ".", "folder of the repository")
	out := set.String("out", "", "folder of the release (default: bin/release/VERSION)")
	dirty := set.Bool("dirty", false, "allow changes that are not committed; for trying only")
	check := set.String("check", "", "check the release in this folder instead of building one")
	image := set.String("image", defaultImage, "image that manifests and chart name, and that -push pushes: REGISTRY/REPOSITORY")
	pushed := set.String("push", "", "push the image of the release in this folder, with the credentials of "+userVariable+" and "+
		passwordVariable+", or of docker login")
	if err := set.Parse(args); err != nil {
		return err
	}
	if *check != "" {
		return checkRelease(*check)
	}
	if *pushed != "" {
		return push(*pushed, *image, os.Stdout)
	}
	r, err := newRelease(*version, *root, *out, *platforms)
	if err != nil {
		return err
	}
	r.imageName = *image
	if err := r.committed(); err != nil && !*dirty {
		return err
	}
	return r.build()
}

// newRelease reads what a release is built from.
func newRelease(version, root, out, platforms string) (*release, error) {
	if !versions.MatchString(version) {
		return nil, fmt.Errorf("version %q: want a form like v0.1.0", version)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if out == "" {
		out = filepath.Join(root, "bin", "release", version)
	}
	r := &release{version: version, imageName: defaultImage, root: root, out: out}
	if r.platforms, err = parsePlatforms(platforms); err != nil {
		return nil, err
	}
	if r.commit, err = r.git("rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the release: %w", err)
	}
	r.created = time.Unix(epoch, 0).UTC()
	return r, nil
}

func parsePlatforms(list string) ([]platform, error) {
	var parsed []platform
	for name := range strings.SplitSeq(list, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(name), "/")
		if !ok || system == "" || arch == "" {
			return nil, fmt.Errorf("platform %q: want OS/ARCH", name)
		}
		parsed = append(parsed, platform{system, arch})
	}
	return parsed, nil
}

// git returns what a git command prints.
func (r *release) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// committed returns an error if the working tree has changes: a release must be reproducible from its commit.
func (r *release) committed() error {
	status, err := r.git("status", "--porcelain")
	if err != nil {
		return err
	}
	if status != "" {
		return errors.New("the working tree has changes: commit them, or try with -dirty")
	}
	return nil
}

// build writes all files of the release. The folder is made anew, so that it holds nothing else.
func (r *release) build() error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"release notes", r.notes},
		{"binaries", r.binaries},
		{"image", r.image},
		{"manifests", r.manifests}, // they name the image by its digest
		{"Helm chart", r.chart},
		{"SBOM", r.sbom},
		{"checksums", r.checksums},
	} {
		begin := time.Now()
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%-14s %.0f s\n", step.name, time.Since(begin).Seconds())
	}
	return r.list()
}
