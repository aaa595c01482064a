"""Trainings on the processor, recorded by torch.profiler. Usage: train.py MODE OUT.json"""
import sys, time, torch
from torch import nn

mode, out = sys.argv[1:]
torch.set_num_threads(1)
torch.manual_seed(3)


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        if mode == "loader":
            time.sleep(.004)
        return torch.randn(3, 16, 16), i % 10


model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(2048, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=.01)
loss_of = nn.CrossEntropyLoss()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
    for step, (x, y) in enumerate(torch.utils.data.DataLoader(Images(), batch_size=8)):
        if step == 24:
            break
        optimizer.zero_grad()
        if mode == "shape" and step % 6 == 4:
            x = x.repeat(6, 1, 1, 1)
            y = y.repeat(6)
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        prof.step()
prof.export_chrome_trace(out)
