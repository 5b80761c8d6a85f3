package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// noURL stands for the place of the release if none is given.
const noURL = "https://example.org/symkit"

// writeFormula writes the Homebrew formula: for each system of macOS and Linux that
// Homebrew supports the archive with its checksum.
func writeFormula(dir string, src source, url string, archives []archiveFile) error {
	if url == "" {
		url = noURL
		step("the formula names %s: give the place of the release with --url", url)
	}
	url = strings.TrimSuffix(url, "/")

	var systems strings.Builder
	for _, system := range []struct{ os, homebrew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		var cases strings.Builder
		for _, a := range archives {
			processor := map[string]string{"amd64": "intel", "arm64": "arm"}[a.target.arch]
			if a.target.os != system.os || processor == "" {
				continue
			}
			sum, err := fileSum(a.path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&cases, "    on_%s do\n      url \"%s/%s\"\n      sha256 \"%s\"\n    end\n", processor, url, filepath.Base(a.path), sum)
		}
		if cases.Len() > 0 {
			fmt.Fprintf(&systems, "\n  on_%s do\n%s  end\n", system.homebrew, cases.String())
		}
	}
	if systems.Len() == 0 {
		return nil
	}

	text := fmt.Sprintf(`class Symkit < Formula
  desc "%s"
  homepage "%s"
  version "%s"
  license "BSD-3-Clause"
%s
  def install
    prefix.install Dir["*"]
  end

  test do
    %%w[dump_syms stackwalk symaddr symcheck symserve].each do |program|
      assert_match version.to_s, shell_output("#{bin}/#{program} --version")
    end
  end
end
`, summary, url, src.number(), systems.String())
	return os.WriteFile(filepath.Join(dir, "symkit.rb"), []byte(text), 0o666)
}
