package main

import (
	"fmt"

	"symkit/internal/command"
	"symkit/internal/smallfile"
	"symkit/walk"
	"symkit/walk/signature"
)

// signer makes crash signatures.
type signer struct {
	lists       *signature.Lists       // nil: the included ones
	annotations *signature.Annotations // nil: none
}

// newSigner reads the files that --signature-lists and --annotations name.
func (c *cli) newSigner() (s *signer, err error) {
	s = &signer{}
	if c.Lists != "" {
		s.lists, err = signature.ReadLists(c.Lists)
		if err != nil {
			return nil, command.Unreadable("--signature-lists", c.Lists, err, "a directory with siggen's lists")
		}
	}
	if c.Annotations == "" {
		return s, nil
	}

	text, err := smallfile.Read(c.Annotations, smallfile.Most)
	if err != nil {
		return nil, command.Unreadable("--annotations", c.Annotations, err, "the annotations that were sent beside the dump, as JSON")
	}
	s.annotations, err = signature.ParseAnnotations(text)
	if err != nil {
		return nil, fmt.Errorf("--annotations %s: %w", c.Annotations, err)
	}
	return s, nil
}

// sign adds the signature to the facts of a result. A nil signer adds none.
func (s *signer) sign(res *walk.Result) {
	if s == nil {
		return
	}

	made, ok := signature.Of(res, s.lists, s.annotations)
	if ok {
		res.Process.Facts.Signature, res.Process.Facts.ProtoSignature = made.Text, made.Proto
	}
}
