package cloudinit

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
)

// maxParts and maxDepth bound a MIME archive; cloud-init archives hold a handful of parts and hardly ever nest.
const (
	maxParts = 64
	maxDepth = 4
)

// part is one document of the user data.
type part struct {
	mediaType string
	body      []byte
}

// split gives the documents of user data: the parts of a MIME archive, else the whole.
func split(raw []byte) ([]part, error) {
	if !looksLikeMIME(raw) {
		return []part{{body: raw}}, nil
	}
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(raw, " \t\r\n")))
	if err != nil {
		return nil, fmt.Errorf("user data starts as a MIME archive but its header cannot be read: %w", err)
	}
	var parts []part
	err = collect(&parts, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0)
	return parts, err
}

func looksLikeMIME(raw []byte) bool {
	head := strings.ToLower(firstLine(raw))
	return strings.HasPrefix(head, "content-type:") || strings.HasPrefix(head, "mime-version:")
}

// collect appends the leaves below one MIME entity.
func collect(parts *[]part, contentType, encoding string, body io.Reader, depth int) error {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("user data: a MIME part has an unreadable Content-Type: %w", err)
	}
	if !strings.HasPrefix(mediaType, "multipart/") {
		return leaf(parts, mediaType, encoding, body)
	}
	if depth == maxDepth {
		return fmt.Errorf("user data: MIME archives are nested more than %d deep", maxDepth)
	}
	r := multipart.NewReader(body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("user data: damaged MIME archive: %w", err)
		}
		ct := p.Header.Get("Content-Type")
		if ct == "" {
			ct = "text/plain"
		}
		if err := collect(parts, ct, p.Header.Get("Content-Transfer-Encoding"), p, depth+1); err != nil {
			return err
		}
	}
}

// leaf decodes one document; gzip inside a part is taken off too, as cloud-init does.
func leaf(parts *[]part, mediaType, encoding string, body io.Reader) error {
	if len(*parts) == maxParts {
		return fmt.Errorf("user data: more than %d MIME parts", maxParts)
	}
	switch strings.ToLower(encoding) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	b, err := io.ReadAll(io.LimitReader(body, maxUnpacked))
	if err != nil {
		return fmt.Errorf("user data: MIME part %d cannot be decoded: %w", len(*parts)+1, err)
	}
	if b, err = gunzip(b); err != nil {
		return err
	}
	*parts = append(*parts, part{mediaType: mediaType, body: b})
	return nil
}
