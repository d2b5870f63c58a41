"""dev/stage: a long run's stages keep their output, their time and their status."""


def test_a_stage_passes_output_and_status_on_and_keeps_a_log(run, tmp_path):
    env = {"STAGES": str(tmp_path)}
    good = run("dev/stage", "good", "bash", "-c", "echo out; echo err >&2", env=env)
    assert good.returncode == 0 and "out\n" in good.stdout and "err\n" in good.stdout
    assert sorted((tmp_path / "good.log").read_text().split()) == ["err", "out"]
    bad = run("dev/stage", "bad", "bash", "-c", "exit 7", env=env)
    assert bad.returncode == 7
    assert "stage bad failed with status 7" in bad.stderr
    report = run("dev/stage", "--report", env=env)
    assert report.returncode == 0
    lines = report.stdout.split("\n")
    assert any(line.startswith("good") and "FAILED" not in line for line in lines)
    assert any(line.startswith("bad") and "FAILED with status 7" in line for line in lines)
    assert any(line.startswith("all") for line in lines)


def test_a_report_without_stages_is_a_failure(run, tmp_path):
    assert run("dev/stage", "--report", env={"STAGES": str(tmp_path)}).returncode == 1


def test_a_stage_without_a_command_is_refused(run, tmp_path):
    assert run("dev/stage", "lonely", env={"STAGES": str(tmp_path)}).returncode == 2
