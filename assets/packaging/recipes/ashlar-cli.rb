class AshlarCli < Formula
  desc "@SUMMARY@"
  homepage "@HOME@"
  version "@VERSION@"
  license "@LICENCE@"

  on_macos do
    on_arm do
      url "@URL:ashlar-cli-@VERSION@-macos-arm64.tar.gz@"
      sha256 "@SUM:ashlar-cli-@VERSION@-macos-arm64.tar.gz@"
    end
    on_intel do
      url "@URL:ashlar-cli-@VERSION@-macos-amd64.tar.gz@"
      sha256 "@SUM:ashlar-cli-@VERSION@-macos-amd64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "@URL:ashlar-cli-@VERSION@-linux-arm64.tar.gz@"
      sha256 "@SUM:ashlar-cli-@VERSION@-linux-arm64.tar.gz@"
    end
    on_intel do
      url "@URL:ashlar-cli-@VERSION@-linux-amd64.tar.gz@"
      sha256 "@SUM:ashlar-cli-@VERSION@-linux-amd64.tar.gz@"
    end
  end

  def install
    bin.install "ashlar-cli"
    bin.install_symlink "ashlar-cli" => "ashlar"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"ashlar", "completion")
  end

  test do
    (testpath/"run.folded").write "main;a 3\nmain;b 4\n"
    assert_match "\"total\": 7", shell_output("#{bin}/ashlar-cli top run.folded --json")
  end
end
